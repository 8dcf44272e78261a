import Crypto
import Failure
import SignedNote
import Storage
import System

/// A secret key in a file.
package struct KeyFile: Sendable {
  package let path: String
  package let key: SigningKey
  private let file: any File

  private static let limit = 4_096
  /// How often a wrong password is asked for again.
  private static let attempts = 3

  /// Reads a key; white space around it is tolerated.
  ///
  /// - Parameter passwords: asked for a key that is under a password.
  /// - Throws: `usage` if it is not there, no key, or not opened; `permission`, also for one that
  ///   others may read; `io-error`.
  package init(
    _ path: String, _ fileSystem: any FileSystem, passwords: PasswordSource = .none
  ) throws(FetchFailure) {
    self.path = path
    var bytes: [UInt8]
    (file, bytes) = try Self.read(path, fileSystem)
    defer { _ = SecretBytes(taking: &bytes) }
    let text = String(decoding: bytes, as: UTF8.self)
    if let sealed = SealedKey(text) {
      key = try Self.open(sealed, path, passwords)
      return
    }
    let trimmed = text.split(whereSeparator: { $0.isWhitespace })
    guard trimmed.count == 1, let key = SigningKey(trimmed[0]) else {
      throw FetchFailure(
        .usage, "\(path) holds no secret key",
        hint: "give the file that 'fetchres keygen --out' wrote")
    }
    self.key = key
  }

  /// The origin that the key in a file is for. No password has to be asked for it.
  ///
  /// - Throws: as for the key itself.
  package static func origin(
    of path: String, _ fileSystem: any FileSystem = RealFileSystem()
  ) throws(FetchFailure) -> Origin? {
    var (_, bytes) = try read(path, fileSystem)
    defer { _ = SecretBytes(taking: &bytes) }
    if let sealed = SealedKey(String(decoding: bytes, as: UTF8.self)) { return sealed.key.origin }
    return try KeyFile(path, fileSystem).key.key.origin
  }

  private static func read(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(FetchFailure) -> (file: any File, bytes: [UInt8]) {
    ThisProcess.forbidCoreDumps()
    let file: any File
    let bytes: [UInt8]
    let isExposed: Bool
    do throws(SystemError) {
      file = try fileSystem.openFile(path)
      let status = try file.status()
      isExposed = status.kind == .regular && status.permissions & 0o077 != 0
      // Not even read: who publishes with it goes on as if nobody knew it.
      bytes = isExposed ? [] : try file.readAll(path, limit: Self.limit)
    } catch {
      if error.code == SystemError.notFound {
        throw FetchFailure(
          .usage, "there is no key file \(path)", hint: "make one with 'fetchres keygen'")
      }
      throw error.failure("cannot read the key file \(path)")
    }
    guard !isExposed else {
      throw FetchFailure(
        .permission, "others can read the secret key \(path), so it is not used",
        hint: "chmod 600 it, and think about who may have read it")
    }
    return (file, bytes)
  }

  /// Keeps other runs from signing with the key, for as long as a copy of this lives: two copies of a
  /// site could sign the same release twice.
  ///
  /// - Throws: `locked`.
  func lock() throws(FetchFailure) { try Self.lock(file, path) }

  static func lock(_ file: any File, _ path: String) throws(FetchFailure) {
    // Where there are no locks, as for a file opened to be read on some network file systems, the
    // record beside the key has to do.
    guard (try? file.tryLock()) == false else { return }
    throw FetchFailure(
      .locked, "another fetchres signs with \(path)",
      hint: "wait for it to end, then run again")
  }

  private static func open(
    _ sealed: SealedKey, _ path: String, _ passwords: PasswordSource
  ) throws(FetchFailure) -> SigningKey {
    for _ in 0..<(passwords.asksAgain ? attempts : 1) {
      guard let password = try passwords.ask("password of the secret key \(path): ") else {
        throw FetchFailure(
          .usage, "the secret key \(path) is under a password, and there is nobody to ask for it",
          hint: "run it on a terminal, or give --password-file FILE")
      }
      do throws(PrivateKey.Refusal) { return try sealed.open(password) } catch {
        guard error == .notOpened else {
          throw FetchFailure(
            .usage, "\(path) is damaged: it holds no secret key of \(sealed.key)",
            hint: "take the copy that you keep")
        }
      }
    }
    throw FetchFailure(.usage, "the password of the secret key \(path) is wrong")
  }

  /// Makes a new key and writes it, for its owner alone; never over something that is there. Its record
  /// says that it has signed nothing: a key that has none may have signed anything.
  ///
  /// - Parameter password: what it is encrypted under; nil for nothing.
  package static func generate(
    _ origin: Origin, at path: String, _ fileSystem: any FileSystem, password: SecretBytes? = nil
  ) throws(FetchFailure) -> NoteKey {
    ThisProcess.forbidCoreDumps()
    try checkFree([path], fileSystem)
    let key = SigningKey.generate(origin)
    let text = password.map { SealedKey(key, password: $0).text } ?? key.secretText + "\n"
    let name = Path.name(path)
    let directory: any Directory
    let file: any File
    do throws(SystemError) {
      directory = try fileSystem.openDirectory(Path.parent(path))
      file = try directory.openFile(name, .createNew(permissions: 0o600))
    } catch {
      if error.code == SystemError.exists { throw isThere(path) }
      throw error.failure("cannot write the key file \(path)")
    }
    do throws(FetchFailure) {
      try doing("cannot write the key file \(path)") { () throws(SystemError) in
        try file.writeAll(Array(text.utf8))
        try file.sync()
        try directory.sync()
      }
      let nothing = Checkpoint(origin: origin, size: 0, root: .empty)
      try KeyHead(keyFile: path).write(
        SignedNote.sign(text: nothing.text, keys: [key]), fileSystem)
    } catch {
      // Nobody has seen this key, and what is left of it would be in the way of the next.
      _ = try? directory.removeIfPresent(name)
      _ = try? directory.removeIfPresent(name + KeyHead.suffix)
      _ = try? directory.sync()
      throw error
    }
    return key.key
  }

  /// Looks before keys are made, so that none is made whose sibling cannot be.
  ///
  /// - Throws: `usage` if something is at one of those paths, or one is there twice.
  package static func checkFree(
    _ paths: [String], _ fileSystem: any FileSystem
  ) throws(FetchFailure) {
    var seen: Set<String> = []
    for path in paths {
      let directory = try? fileSystem.openDirectory(Path.parent(path))
      let isFree = [path, path + KeyHead.suffix].allSatisfy {
        ((try? directory?.statusIfPresent(Path.name($0))) ?? nil) == nil
      }
      guard isFree, seen.insert(path).inserted else { throw isThere(path) }
    }
  }

  private static func isThere(_ path: String) -> FetchFailure {
    FetchFailure(
      .usage, "\(path) or its record is there already, and a key is never overwritten",
      hint: "choose another name for it")
  }
}

/// The last checkpoint that a key signed, in `<key file>.head`: what makes one history per key. That of a
/// new key is the empty log, which every other one extends.
struct KeyHead {
  static let suffix = ".head"

  /// Of the head file, absolute.
  let path: String

  init(path: String) { self.path = path }

  init(keyFile: String) {
    let absolute =
      keyFile.hasPrefix("/")
      ? keyFile : Path.join(ThisProcess.workingDirectory ?? ".", keyFile)
    path = absolute + Self.suffix
  }

  /// What is said of a key that had none.
  static func adoption(_ keyFile: String) -> String {
    "\(keyFile) had no record: the site's checkpoint became its head, which protects from now on"
  }

  /// Whether a path can be that of a head.
  static func isPath(_ path: String) -> Bool {
    path.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }

  /// The checkpoint in a note that each of these keys signed, for the origin of the first; nil if it
  /// is none.
  static func checkpoint(_ note: [UInt8], by keys: [NoteKey]) -> Checkpoint? {
    guard let verified = try? SignedNote(note).verify(keys),
      keys.allSatisfy({ verified.signers.contains($0) }),
      let checkpoint = try? Checkpoint(verified), checkpoint.origin == keys.first?.origin
    else { return nil }
    return checkpoint
  }

  /// The note; nil if there is none.
  func read(_ fileSystem: any FileSystem) throws(FetchFailure) -> [UInt8]? {
    do throws(SystemError) {
      guard let directory = try directory(fileSystem),
        try directory.statusIfPresent(Path.name(path)) != nil
      else { return nil }
      return try directory.readFile(Path.name(path), limit: 65_536)
    } catch { throw error.failure("cannot read \(path)") }
  }

  /// Whether not even its directory is there.
  func isLost(_ fileSystem: any FileSystem) throws(FetchFailure) -> Bool {
    try doing("cannot look at \(path)") { () throws(SystemError) in
      try directory(fileSystem) == nil
    }
  }

  private func directory(_ fileSystem: any FileSystem) throws(SystemError) -> (any Directory)? {
    do throws(SystemError) { return try fileSystem.openDirectory(Path.parent(path)) } catch {
      guard error.code == SystemError.notFound else { throw error }
      return nil
    }
  }

  /// Durable when it returns, also where a killed run wrote the same.
  func write(_ bytes: [UInt8], _ fileSystem: any FileSystem) throws(FetchFailure) {
    do throws(SystemError) {
      try fileSystem.openDirectory(Path.parent(path)).replaceFile(
        Path.name(path), bytes, permissions: 0o600)
    } catch { throw error.failure("cannot write \(path)") }
  }
}
