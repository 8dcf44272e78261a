import Failure
import Storage
import System

/// The ladder of waits for one password, kept across runs and reboots: the same waits as those of
/// sources that fail.
struct PasswordLadder {
  private let records: RetryRecords
  private let name: String

  /// - Parameters:
  ///   - path: the directory of the records.
  ///   - name: of this one in it.
  init(_ path: String, _ name: String, _ fileSystem: any FileSystem) {
    records = RetryRecords(path, fileSystem)
    self.name = name
  }

  /// Wrong passwords in a row until now.
  var failures: UInt32 { records.ladder(name)?.failures ?? 0 }

  /// Seconds until the next attempt.
  func wait() throws(FetchFailure) -> Double {
    guard let record = records.ladder(name) else { return 0 }
    let (now, boot) = (Clocks.sinceBoot(), BootIdentity.current())
    // From another boot: the whole wait again, and only once.
    if record.deadline.left(now: now, boot: boot) == nil {
      try save(LadderRecord(failures: record.failures, now: now, boot: boot))
    }
    return record.wait(now: now, boot: boot)
  }

  /// On disk before anybody is told that the password was wrong.
  ///
  /// - Returns: wrong passwords in a row.
  func fail() throws(FetchFailure) -> UInt32 {
    let failures = min(self.failures, .max - 1) + 1
    try save(
      LadderRecord(failures: failures, now: Clocks.sinceBoot(), boot: BootIdentity.current()))
    return failures
  }

  func reset() throws(FetchFailure) {
    guard records.ladder(name) != nil else { return }
    try doing("cannot forget wrong passwords") { () throws(SystemError) in
      try records.removeLadder(name)
    }
  }

  private func save(_ record: LadderRecord) throws(FetchFailure) {
    try doing("cannot keep count of wrong passwords") { () throws(SystemError) in
      try records.save(record, name)
    }
  }
}
