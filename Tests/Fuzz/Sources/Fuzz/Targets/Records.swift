import Crypto
@testable import FetchResKit
@testable import ReleaseLog
@testable import Storage
@testable import System

extension FuzzTarget {
  /// Whatever bytes stand in a record of waits, the wait is bounded, and a record that is read is
  /// written again as it was.
  static let ladderRecord = FuzzTarget("ladder-record") { bytes in
    var reader = InputReader(bytes)
    let now = Double(bitPattern: UInt64(bitPattern: reader.number()))
    let boot = BootIdentity(reader.bytes(BootIdentity.byteCount))
    let content = Array(reader.rest)
    let isNumber = now.isFinite
    if let record = LadderRecord(content) {
      let wait = record.wait(now: isNumber ? now : 0, boot: boot)
      expect((0...RetryLadder.ceiling).contains(wait), "a wait of \(wait) s")
      expect(LadderRecord(record.bytes) == record, "a record not read back")
      let next = LadderRecord(
        failures: record.failures &+ 1, now: isNumber ? now : 0, boot: boot, atLeast: now)
      expect(LadderRecord(next.bytes) == next, "a next record not read back")
    }
    if let record = HoldRecord(content) {
      let wait = record.wait(now: isNumber ? now : 0, boot: boot)
      expect((0...HoldRecord.duration).contains(wait), "a hold of \(wait) s")
      expect(HoldRecord(record.bytes) == record, "a hold not read back")
    }
  }

  /// A state of the release log that is read is the same when it is written and read again.
  static let logState = FuzzTarget("log-state") { bytes in
    _ = try? LogState(text: bytes)
    // The digest at its end cannot be guessed.
    let end = "end \(SHA256.digest(bytes))\n"
    guard let state = try? LogState(text: bytes + Array(end.utf8)) else { return }
    expect((try? LogState(text: state.text)) == state, "another state")
  }

  /// The same for the keys that a user trusts.
  static let trust = FuzzTarget("trust") { bytes in
    guard let trust = Trust(text: String(decoding: bytes, as: UTF8.self)) else { return }
    expect(Trust(text: trust.text) == trust, "other keys")
    _ = trust.policy
    for origin in trust.origins { expect(!trust.keys(of: origin).isEmpty, "\(origin)") }
  }
}
