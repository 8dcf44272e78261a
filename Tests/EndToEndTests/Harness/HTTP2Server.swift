import System
import Testing

/// `Tests/Servers/http2.py`: a scripted HTTP/2 server over TLS.
final class HTTP2Server: Sendable {
  let base: String
  private let child: Child

  static let python = "/usr/bin/python3"

  /// Whether the tests have what it needs: a certificate, and Debian's python3-h2.
  static let isAvailable: Bool = {
    guard Nginx.here != nil else { return false }
    let child = try? Child(python, ["-c", "import h2"], environment: [:])
    return child?.wait(within: Fetchres.patience) == .exited(0)
  }()

  static let need: Comment = "needs the certificate of Tests/run.sh, and python3-h2"

  /// - Parameters:
  ///   - fault: what the script calls it.
  ///   - count: how often.
  init(_ root: String, fault: String = "none", count: Int = 0) throws {
    let nginx = try #require(Nginx.here)
    let script = Path.join(
      Path.parent(Path.parent(Path.parent(#filePath))), "Servers/http2.py")
    child = try Child(
      Self.python,
      [script, root, nginx.serverCertificate, nginx.serverKey, fault, "\(count)"],
      environment: [:])
    let isReady = child.waitForOutput(within: Fetchres.patience) { $0.contains("\n") }
    try #require(isReady, "\(String(decoding: child.error, as: UTF8.self))")
    let port = String(decoding: child.output, as: UTF8.self).prefix { $0 != "\n" }
    base = "https://127.0.0.1:\(port)/"
  }

  struct Entry {
    /// In the order of arrival, from 0.
    let connection: Int
    /// `1.1` or `2`.
    let version: String
    let path: String
  }

  /// The requests until now.
  var entries: [Entry] {
    String(decoding: child.output, as: UTF8.self).split(separator: "\n").dropFirst().compactMap {
      let words = $0.split(separator: " ")
      guard words.count == 3, let connection = Int(words[0]) else { return nil }
      return Entry(connection: connection, version: String(words[1]), path: String(words[2]))
    }
  }
}
