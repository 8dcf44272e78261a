import Crypto
import Failure
import Storage
import System
import Transport

/// The client certificates of this user: one file each in `<state>/identities`, for its owner alone.
package struct IdentityStore: Sendable {
  let path: String
  let fileSystem: any FileSystem

  private static let suffix = ".identity"

  package init(
    stateDirectory: String?, _ fileSystem: any FileSystem = RealFileSystem()
  ) throws(FetchFailure) {
    self.init(try StateDirectory(stateDirectory, fileSystem), fileSystem)
  }

  init(_ state: StateDirectory, _ fileSystem: any FileSystem) {
    path = Path.join(state.path, "identities")
    self.fileSystem = fileSystem
  }

  /// In the order of the alphabet.
  package func names() throws(FetchFailure) -> [String] {
    guard let directory = try open() else { return [] }
    let entries = try doing("cannot list \(path)") { () throws(SystemError) in
      try directory.entries()
    }
    return entries.filter { $0.hasSuffix(Self.suffix) }.map {
      String($0.dropLast(Self.suffix.count))
    }
    .filter { StoredIdentity.isName($0) }.sorted()
  }

  /// Nil if there is none of that name.
  ///
  /// - Throws: `usage` if it is damaged, `permission` if others may read it.
  package func read(_ name: String) throws(FetchFailure) -> StoredIdentity? {
    guard StoredIdentity.isName(name), let directory = try open() else { return nil }
    let file = Path.join(path, name + Self.suffix)
    ThisProcess.forbidCoreDumps()
    let found = try doing("cannot read \(file)") { () throws(SystemError) -> Found? in
      guard try directory.statusIfPresent(name + Self.suffix) != nil else { return nil }
      let opened = try directory.openFile(name + Self.suffix, .read)
      var bytes = try opened.readAll(name, limit: StoredIdentity.maximumByteCount)
      return Found(
        permissions: try opened.status().permissions, bytes: SecretBytes(taking: &bytes))
    }
    guard let found else { return nil }
    guard found.permissions & 0o077 == 0 else {
      throw FetchFailure(
        .permission, "others can read the identity \(file)",
        hint: "chmod 600 it, and think of its key as known to them")
    }
    guard let identity = StoredIdentity(found.bytes, name: name) else {
      throw FetchFailure(
        .usage, "the identity '\(name)' is damaged: \(file) is not what was stored",
        hint: "import it again; no password was tried")
    }
    return identity
  }

  private struct Found: Sendable {
    var permissions: UInt32
    var bytes: SecretBytes
  }

  /// Puts it in the place of what is there under its name, in one durable step.
  ///
  /// - Throws: `usage` for one that is too large; nothing is changed by then.
  func write(_ identity: StoredIdentity) throws(FetchFailure) {
    var bytes = identity.record.withBytes { Array($0) }
    defer { _ = SecretBytes(taking: &bytes) }
    // It could not be read again, and what it replaces may be the only one that works.
    guard bytes.count <= StoredIdentity.maximumByteCount else {
      throw FetchFailure(
        .usage,
        "the identity '\(identity.name)' is too large to be kept: key and certificates have more than "
          + "\(StoredIdentity.maximumByteCount >> 10) KiB",
        hint: "export it again with fewer or smaller certificates")
    }
    do throws(SystemError) {
      try fileSystem.makeDirectories(path, permissions: 0o700)
      try fileSystem.openDirectory(path).replaceFile(
        identity.name + Self.suffix, bytes, permissions: 0o600)
    } catch { throw error.failure("cannot store the identity in \(path)") }
    // What was wrong for the one before says nothing of this one.
    try ladder(of: identity.name).reset()
  }

  /// Removes it, and the count of wrong passwords with it.
  ///
  /// - Returns: whether there was one.
  package func remove(_ name: String) throws(FetchFailure) -> Bool {
    guard StoredIdentity.isName(name), let directory = try open() else { return false }
    let was = try doing("cannot remove the identity from \(path)") { () throws(SystemError) in
      let was = try directory.removeIfPresent(name + Self.suffix)
      try directory.sync()
      return was
    }
    try ladder(of: name).reset()
    return was
  }

  typealias Stamp = FileStamp

  /// Nil if there is no such record.
  func stamp(_ name: String) -> Stamp? {
    guard let directory = try? fileSystem.openDirectory(path),
      let status = try? directory.status(name + Self.suffix)
    else { return nil }
    return FileStamp(status)
  }

  /// Nil if nothing was ever stored.
  private func open() throws(FetchFailure) -> (any Directory)? {
    do throws(SystemError) { return try fileSystem.openDirectory(path) } catch {
      if error.code == SystemError.notFound { return nil }
      throw error.failure("cannot open \(path)")
    }
  }
}
