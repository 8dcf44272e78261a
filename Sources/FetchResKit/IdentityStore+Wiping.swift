import Crypto
import Failure
import Storage
import System

/// Wrong passwords: their ladders, and after how many an identity is removed.
extension IdentityStore {
  /// What can be chosen.
  package static let wipeChoices: [UInt32] = [5, 10, 15, 20]

  private static let wipeName = "wipe-after"

  /// Nil if identities are never removed for wrong passwords, as by default.
  package var wipeAfter: UInt32? {
    guard let directory = try? fileSystem.openDirectory(path),
      let bytes = try? directory.readFile(Self.wipeName, limit: 16),
      let number = Decimal.decode(String(decoding: bytes, as: UTF8.self).dropLast())
    else { return nil }
    return Self.wipeChoices.first { Int64($0) == number }
  }

  package func setWipeAfter(_ count: UInt32?) throws(FetchFailure) {
    do throws(SystemError) {
      try fileSystem.makeDirectories(path, permissions: 0o700)
      let directory = try fileSystem.openDirectory(path)
      if let count {
        try directory.replaceFile(Self.wipeName, Array("\(count)\n".utf8), permissions: 0o600)
      } else if try directory.removeIfPresent(Self.wipeName) {
        try directory.sync()
      }
    } catch { throw error.failure("cannot write in \(path)") }
  }

  /// The ladder of the password that a stored identity is under.
  func ladder(of name: String) -> PasswordLadder {
    PasswordLadder(Path.join(path, "wrong"), name, fileSystem)
  }

  /// The ladder of the password of a file that is to be imported.
  func ladder(ofFile bytes: [UInt8]) -> PasswordLadder {
    PasswordLadder(
      Path.join(path, "wrong-imports"), SHA256.digest(bytes).description, fileSystem)
  }

  /// Removes an identity once there were as many wrong passwords in a row as was chosen.
  ///
  /// - Throws: `unavailable` if it was removed.
  func wipe(_ name: String, ifDueAfter failures: UInt32) throws(FetchFailure) {
    guard let limit = wipeAfter, failures >= limit, try remove(name) else { return }
    throw FetchFailure(
      .unavailable,
      "the identity '\(name)' is removed: \(failures) wrong passwords in a row",
      hint: "'fetchres identity import' takes it in again")
  }
}
