import Crypto
import Failure
import SignedNote
import Storage
import System

/// Where the state of release logs lies: `<state>/logs/<sha256 of the origin>`, replaced in one durable
/// step, and `<state>/evidence/`, a text file for each proof.
package struct LogStore: Sendable {
  package let origin: Origin
  private let path: String
  private let fileSystem: any FileSystem

  private static let limit = 16 << 20
  private static let evidenceName = "evidence"

  /// - Parameter path: the state directory; made when something is written.
  package init(_ origin: Origin, below path: String, _ fileSystem: any FileSystem) {
    (self.origin, self.path, self.fileSystem) = (origin, path, fileSystem)
  }

  private var logs: String { Path.join(path, "logs") }
  private var name: String { SHA256.digest(Array(origin.name.utf8)).description }

  /// The origins of which something is kept.
  package static func origins(
    below path: String, _ fileSystem: any FileSystem
  ) -> [Origin] {
    guard let directory = try? fileSystem.openDirectory(Path.join(path, "logs")) else { return [] }
    return ((try? directory.entries()) ?? []).compactMap { name in
      guard let bytes = try? directory.readFile(name, limit: limit) else { return nil }
      return (try? LogState(text: bytes))?.origin
    }.sorted { $0.name < $1.name }
  }

  /// What is kept; nothing yet is an empty state.
  ///
  /// - Throws: `io-error` for a record that is damaged: it is never taken for none.
  package func load() throws(FetchFailure) -> LogState {
    do throws(SystemError) {
      let directory = try fileSystem.openDirectory(logs)
      guard try directory.statusIfPresent(name) != nil else { return LogState(origin) }
      return try read(directory)
    } catch {
      if error.code == SystemError.notFound { return LogState(origin) }
      throw error.failure("cannot read what is known of \(origin) in \(path)")
    }
  }

  private func read(_ directory: any Directory) throws(SystemError) -> LogState {
    let bytes = try directory.readFile(name, limit: Self.limit)
    guard let state = try? LogState(text: bytes), state.origin == origin else {
      throw SystemError(SystemError.inputOutput, "the record is damaged", path: name)
    }
    return state
  }

  /// Changes what is kept, whatever another process did meanwhile: reads it, changes it, and replaces
  /// it, under a lock. When this returns, it is durable.
  ///
  /// - Parameter change: answers false to leave all as it is; may be called once only.
  package func update(_ change: (inout LogState) -> Bool) throws(FetchFailure) -> LogState {
    try doing("cannot write in \(logs)") { () throws(SystemError) in
      try fileSystem.makeDirectories(logs, permissions: 0o700)
    }
    let directory = try doing("cannot open \(logs)") { () throws(SystemError) in
      try fileSystem.openDirectory(logs)
    }
    let lock = try lock(directory)
    defer { withExtendedLifetime(lock) {} }
    var state = try load()
    guard change(&state) else { return state }
    state.serial += 1
    try doing("cannot keep what is known of \(origin) in \(logs)") { () throws(SystemError) in
      try directory.replaceFile(name, state.text, permissions: 0o600)
    }
    return state
  }

  /// Writes are short: whoever holds the lock will be done in a moment.
  private func lock(_ directory: any Directory) throws(FetchFailure) -> any File {
    let file = try doing("cannot lock \(logs)") { () throws(SystemError) in
      try directory.openFile(".\(name).lock", .create(permissions: 0o600))
    }
    for _ in 0..<500 {
      let isOurs = try doing("cannot lock \(logs)") { () throws(SystemError) in
        try file.tryLock()
      }
      if isOurs { return file }
      try Interruption().sleep(0.02)
    }
    throw FetchFailure(
      .locked, "another fetchres holds the record of \(origin) in \(logs)",
      hint: "wait for it to end, then run again")
  }

  /// Forgets everything about the origin; evidence stays.
  package func reset() throws(FetchFailure) {
    do throws(SystemError) {
      let directory = try fileSystem.openDirectory(logs)
      try directory.removeIfPresent(name)
      try directory.sync()
    } catch {
      if error.code == SystemError.notFound { return }
      throw error.failure("cannot forget \(origin) in \(logs)")
    }
  }

  /// Puts a proof into a file of its own, named by its content.
  ///
  /// - Returns: the path.
  package func keep(evidence bytes: [UInt8], kind: String) throws(FetchFailure) -> String {
    let directory = Path.join(path, Self.evidenceName)
    let name = "\(kind)-\(SHA256.digest(bytes).description.prefix(16)).txt"
    try doing("cannot write the evidence to \(directory)") { () throws(SystemError) in
      try fileSystem.makeDirectories(directory, permissions: 0o700)
      try fileSystem.openDirectory(directory).replaceFile(name, bytes, permissions: 0o600)
    }
    return Path.join(directory, name)
  }
}
