import Failure
import SignedNote
import Storage
import System

/// A secret key in a file.
package struct KeyFile: Sendable {
  package let path: String
  package let key: SigningKey
  /// Whether others than its owner may read it.
  package let isExposed: Bool

  private static let limit = 4_096

  /// Reads a key; white space around it is tolerated.
  ///
  /// - Throws: `usage` if it is not there or no key; `permission`, `io-error`.
  package init(_ path: String, _ fileSystem: any FileSystem) throws(FetchFailure) {
    self.path = path
    let bytes: [UInt8]
    do throws(SystemError) {
      let file = try fileSystem.openFile(path)
      bytes = try file.readAll(path, limit: Self.limit)
      isExposed = try file.status().permissions & 0o077 != 0
    } catch {
      if error.code == SystemError.notFound {
        throw FetchFailure(
          .usage, "there is no key file \(path)", hint: "make one with 'fetchres keygen'")
      }
      throw error.failure("cannot read the key file \(path)")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let trimmed = text.split(whereSeparator: { $0.isWhitespace })
    guard trimmed.count == 1, let key = SigningKey(trimmed[0]) else {
      throw FetchFailure(
        .usage, "\(path) holds no secret key",
        hint: "give the file that 'fetchres keygen --out' wrote")
    }
    self.key = key
  }

  /// Makes a new key and writes it, for its owner alone; never over something that is there.
  package static func generate(
    _ origin: Origin, at path: String, _ fileSystem: any FileSystem
  ) throws(FetchFailure) -> NoteKey {
    let key = SigningKey.generate(origin)
    do throws(SystemError) {
      let directory = try fileSystem.openDirectory(Path.parent(path))
      let file = try directory.openFile(Path.name(path), .createNew(permissions: 0o600))
      try file.writeAll(Array((key.secretText + "\n").utf8))
      try file.sync()
      try directory.sync()
    } catch {
      if error.code == SystemError.exists {
        throw FetchFailure(
          .usage, "\(path) is there already, and a key is never overwritten",
          hint: "choose another name with --out")
      }
      throw error.failure("cannot write the key file \(path)")
    }
    return key.key
  }
}

/// The last checkpoint that a key signed, in `<key file>.head`: what makes one history per key.
struct KeyHead {
  /// Of the head file, absolute.
  let path: String

  init(path: String) { self.path = path }

  init(keyFile: String) {
    let absolute =
      keyFile.hasPrefix("/")
      ? keyFile : Path.join(ThisProcess.workingDirectory ?? ".", keyFile)
    path = absolute + ".head"
  }

  /// The note; nil if there is none.
  func read(_ fileSystem: any FileSystem) throws(FetchFailure) -> [UInt8]? {
    do throws(SystemError) {
      let directory = try fileSystem.openDirectory(Path.parent(path))
      guard try directory.statusIfPresent(Path.name(path)) != nil else { return nil }
      return try directory.readFile(Path.name(path), limit: 65_536)
    } catch { throw error.failure("cannot read \(path)") }
  }

  /// Durable when it returns, also where a killed run wrote the same.
  func write(_ bytes: [UInt8], _ fileSystem: any FileSystem) throws(FetchFailure) {
    do throws(SystemError) {
      try fileSystem.openDirectory(Path.parent(path)).replaceFile(
        Path.name(path), bytes, permissions: 0o600)
    } catch { throw error.failure("cannot write \(path)") }
  }
}
