import Crypto
import Failure
import Manifest
import SignedNote
import Storage
import System
import Transport

/// The mirrors that a user added by hand, a list for each origin, kept in the state directory.
///
/// A mirror is a base URL that has what the publisher's site has. It need not be trusted: everything
/// from it is verified. A pull that runs sees a change within two seconds.
package struct MirrorList: Sendable {
  /// So many mirrors an origin has at most, the publisher's own not counted.
  package static let maximumCount = 8

  private let path: String
  private let fileSystem: any FileSystem

  /// - Parameter stateDirectory: nil for the default of the environment.
  /// - Throws: `usage` if there is no place for the state.
  package init(stateDirectory: String? = nil) throws(FetchFailure) {
    self.init(try StateDirectory(stateDirectory, RealFileSystem()))
  }

  init(_ state: StateDirectory) {
    path = Path.join(state.path, "mirrors")
    fileSystem = state.fileSystem
  }

  /// The mirrors of an origin, in the order in which they were added.
  ///
  /// - Throws: `usage` if `origin` is none, `io-error`, `permission`.
  package func list(_ origin: String) throws(FetchFailure) -> [String] {
    try bases(of: try Self.parse(origin)).map(\.text)
  }

  /// Adds a mirror to those of an origin.
  ///
  /// - Parameter url: http or https, without user name, query and fragment; a missing slash at its end
  ///   is added.
  /// - Returns: the URL as it is kept.
  /// - Throws: `usage` for what is no such URL, is there already, or is one too many.
  @discardableResult
  package func add(_ origin: String, _ url: String) throws(FetchFailure) -> String {
    let (origin, base) = (try Self.parse(origin), try WebURL.mirror(url))
    try change(origin) { bases throws(FetchFailure) in
      guard !bases.contains(base) else {
        throw FetchFailure(.usage, "\(base.shown) is a mirror of \(origin) already")
      }
      guard bases.count < Self.maximumCount else {
        throw FetchFailure(
          .usage, "\(origin) has \(Self.maximumCount) mirrors, which is the most",
          hint: "take one away with 'fetchres mirror remove'")
      }
      bases.append(base)
    }
    return base.text
  }

  /// Takes a mirror away.
  ///
  /// - Throws: `usage` if it is none of this origin's.
  package func remove(_ origin: String, _ url: String) throws(FetchFailure) {
    let (origin, base) = (try Self.parse(origin), try WebURL.mirror(url))
    try change(origin) { bases throws(FetchFailure) in
      guard let index = bases.firstIndex(of: base) else {
        throw FetchFailure(
          .usage, "\(base.shown) is no mirror of \(origin)",
          hint: "'fetchres mirror list \(origin)' shows those that are")
      }
      bases.remove(at: index)
    }
  }

  private static func parse(_ text: String) throws(FetchFailure) -> Origin {
    guard let origin = Origin(text) else {
      throw FetchFailure(
        .usage, "'\(text)' is no origin", hint: "an origin looks like maps.example.com/world")
    }
    return origin
  }

  // MARK: The file

  private static func name(_ origin: Origin) -> String {
    SHA256.digest(Array(origin.name.utf8)).description
  }

  /// Eight URLs of 1,024 bytes at most.
  private static let limit = 16_384

  /// Lines that are no mirrors are left out: they may be those of a later version.
  func bases(of origin: Origin) throws(FetchFailure) -> [WebURL] {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try fileSystem.openDirectory(path).readFile(Self.name(origin), limit: Self.limit)
    } catch {
      if error.code == SystemError.notFound { return [] }
      throw error.failure("cannot read the mirrors of \(origin)")
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    return lines.prefix(Self.maximumCount).compactMap { try? WebURL.mirror(String($0)) }
  }

  /// What changes when the list does; nil if there is none.
  func stamp(of origin: Origin) -> FileStamp? {
    guard let status = try? fileSystem.openDirectory(path).status(Self.name(origin)) else {
      return nil
    }
    return FileStamp(status)
  }

  private func change(
    _ origin: Origin, _ body: (inout [WebURL]) throws(FetchFailure) -> Void
  ) throws(FetchFailure) {
    try doing("cannot keep the mirrors of \(origin)") { () throws(SystemError) in
      try fileSystem.makeDirectories(path, permissions: 0o700)
    }
    let directory = try doing("cannot keep the mirrors of \(origin)") { () throws(SystemError) in
      try fileSystem.openDirectory(path)
    }
    let lock = try doing("cannot lock the mirrors") { () throws(SystemError) in
      try directory.openFile("lock", .create(permissions: 0o600))
    }
    guard (try? lock.tryLock()) == true else {
      throw FetchFailure(.locked, "another fetchres is changing the mirrors", hint: "try again")
    }
    var bases = try bases(of: origin)
    try body(&bases)
    let text = bases.map { $0.text + "\n" }.joined()
    try doing("cannot keep the mirrors of \(origin)") { () throws(SystemError) in
      try directory.replaceFile(Self.name(origin), Array(text.utf8), permissions: 0o600)
    }
    withExtendedLifetime(lock) {}
  }
}
