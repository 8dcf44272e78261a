import System

/// The records of ladders and holds in one directory, a file each.
///
/// A record is one small write in place: two processes that write at the same time do not take each
/// other's temporary files, and the last one counts. One that a power cut tore is no record, or one of
/// a bounded wait. Reading never writes, and whatever stands there that is no record reads as none.
package struct RetryRecords: Sendable {
  private let path: String
  private let fileSystem: any FileSystem

  /// - Parameter path: a directory, made (0700) when something is written.
  package init(_ path: String, _ fileSystem: any FileSystem) {
    (self.path, self.fileSystem) = (path, fileSystem)
  }

  package func ladder(_ name: String) -> LadderRecord? {
    read("\(name).ladder").flatMap { LadderRecord($0) }
  }

  package func hold(_ name: String) -> HoldRecord? {
    read("\(name).hold").flatMap { HoldRecord($0) }
  }

  package func save(_ record: LadderRecord, _ name: String) throws(SystemError) {
    try write("\(name).ladder", record.bytes)
  }

  package func save(_ record: HoldRecord, _ name: String) throws(SystemError) {
    try write("\(name).hold", record.bytes)
  }

  package func removeLadder(_ name: String) throws(SystemError) { try remove("\(name).ladder") }

  package func removeHold(_ name: String) throws(SystemError) { try remove("\(name).hold") }

  private func read(_ name: String) -> [UInt8]? {
    try? fileSystem.openDirectory(path).readFile(name, limit: 64)
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws(SystemError) {
    try fileSystem.makeDirectories(path, permissions: 0o700)
    let directory = try fileSystem.openDirectory(path)
    let isNew = try directory.statusIfPresent(name) == nil
    let file = try directory.openFile(name, .create(permissions: 0o600))
    try file.writeAll(bytes)
    if try file.status().size != Int64(bytes.count) { try file.truncate(to: Int64(bytes.count)) }
    try file.sync()
    if isNew { try directory.sync() }
  }

  private func remove(_ name: String) throws(SystemError) {
    let directory: any Directory
    do { directory = try fileSystem.openDirectory(path) } catch {
      if error.code == SystemError.notFound { return }
      throw error
    }
    if try directory.removeIfPresent(name) { try directory.sync() }
  }
}
