import Glibc
import System
import Testing

/// A real tor, in a network that has nothing but loopback: it cannot send a packet to anybody, and so
/// never gets through.
final class TorDaemon: Sendable {
  private static let path = "/usr/bin/tor"

  static let isAvailable = Disk.exists(path) && Isolation.runOnLoopback { true } ?? false
  static let need: Comment =
    "needs tor, which Tests/run.sh installs, and the right to make a network of its own"

  /// Of its SOCKS and control ports.
  static let (socks, control) = ("127.0.0.1:9050", "127.0.0.1:9051")

  struct NotAlone: Error {}

  private let child: Child
  private let scratch: Scratch

  /// - Parameter lines: what its configuration has beside the ports.
  /// - Throws: `NotAlone` if there is any network around this thread.
  init(lines: [String]) throws {
    guard Isolation.hasNothingElse else { throw NotAlone() }
    scratch = try Scratch()
    let configuration =
      [
        "SocksPort \(Self.socks)", "ControlPort \(Self.control)",
        "DataDirectory \(scratch("data"))",
        "Log notice stdout",
      ] + lines
    let file = try scratch.write(
      "torrc", Array(configuration.map { $0 + "\n" }.joined().utf8))
    child = try Child(
      Self.path, ["--defaults-torrc", "/dev/null", "-f", file], environment: ["HOME": scratch.path])
    let isReady = child.waitForOutput(within: Fetchres.patience) { $0.contains("Bootstrapped 0%") }
    try #require(isReady, "tor does not start: \(String(decoding: child.output, as: UTF8.self))")
  }

  /// Where its cookie is, if it writes one.
  var cookieFile: String { scratch("data/control_auth_cookie") }

  /// What `HashedControlPassword` says for a password.
  static func hash(_ password: String) throws -> String {
    guard Isolation.hasNothingElse else { throw NotAlone() }
    let outcome = try Outcome(
      of: Child(path, ["--quiet", "--hash-password", password], environment: [:]))
    outcome.expect(0)
    return outcome.line
  }

  func end() {
    child.send(SIGKILL)
    _ = child.wait(within: Fetchres.patience)
  }
}
