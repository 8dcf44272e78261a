import Foundation
import System
import Testing

/// The servers that the same pulls run against.
enum Server: String, Sendable, CaseIterable, CustomTestStringConvertible {
  case origin = "the tests' own server"
  case serve = "fetchres serve"
  case nginx = "nginx"
  case nginxTLS = "nginx with TLS"
  case nginxHTTP2 = "nginx with HTTP/2"

  var testDescription: String { rawValue }

  var isNginx: Bool {
    switch self {
    case .origin, .serve: false
    case .nginx, .nginxTLS, .nginxHTTP2: true
    }
  }

  /// Those that are there. The script that runs the tests starts nginx.
  static let available = allCases.filter { !$0.isNginx || Nginx.here != nil }
}

/// A server that serves a site now.
protocol RunningServer: Sendable {
  /// What the paths of the site are appended to; ends in a slash.
  var base: String { get }
  /// What `pull` needs to trust the server.
  var pullArguments: [String] { get }
  /// How often a path was asked for until now, percent-decoded; nil if nobody counts.
  func count(of path: String) throws -> Int?
}

extension RunningServer {
  var pullArguments: [String] { [] }
}

/// The server of the program itself.
final class ServeProcess: RunningServer {
  let base: String
  private let child: Child

  init(_ fetchres: Fetchres, _ site: String) throws {
    child = try fetchres.start(["serve", site, "--listen", "127.0.0.1:0"])
    let isReady = child.waitForOutput(within: Fetchres.patience) { $0.hasSuffix("/manifest\n") }
    try #require(isReady, "\(String(decoding: child.error, as: UTF8.self))")
    base = String(String(decoding: child.output, as: UTF8.self).dropLast("manifest\n".count))
  }

  func count(of path: String) -> Int? { nil }

  func end(_ signal: Int32) -> Child.Ending? {
    child.send(signal)
    return child.wait(within: Fetchres.patience)
  }
}

/// What the environment says about an nginx that runs.
struct Nginx: Sendable {
  let url: String
  let tlsURL: String
  let noRangeURL: String
  /// With TLS and HTTP/2: as it comes; with three requests a connection, and with one stream at a
  /// time. The latter two refuse HTTP/1.1.
  let http2URL: String
  let http2ShortURL: String
  let http2NarrowURL: String
  /// With ten requests a second, and those beyond answered with that status.
  let busyURLs: [Int: String]
  let root: String
  let certificates: String
  let log: String

  static let here: Nginx? = {
    func variable(_ name: String) -> String? { ThisProcess.environment("FETCHRES_NGINX_\(name)") }
    guard let url = variable("URL"), let tlsURL = variable("TLS_URL"),
      let noRangeURL = variable("NORANGE_URL"), let http2URL = variable("HTTP2_URL"),
      let http2ShortURL = variable("HTTP2_SHORT_URL"),
      let http2NarrowURL = variable("HTTP2_NARROW_URL"),
      let busy429URL = variable("BUSY_429_URL"), let busy503URL = variable("BUSY_503_URL"),
      let root = variable("ROOT"),
      let certificates = variable("CA"), let log = variable("LOG")
    else { return nil }
    return Nginx(
      url: url, tlsURL: tlsURL, noRangeURL: noRangeURL, http2URL: http2URL,
      http2ShortURL: http2ShortURL, http2NarrowURL: http2NarrowURL,
      busyURLs: [429: busy429URL, 503: busy503URL], root: root,
      certificates: certificates, log: log)
  }()

  /// Of the servers themselves, signed by `certificates`.
  var serverCertificate: String { Path.join(Path.parent(certificates), "server.pem") }
  var serverKey: String { Path.join(Path.parent(certificates), "server.key") }

  static let need: Comment = "needs the nginx that Tests/run.sh starts"

  /// One site below the root of nginx.
  struct Running: RunningServer {
    let base: String
    let pullArguments: [String]
    /// The directory of the site in the root.
    let name: String
    let log: String

    func count(of path: String) throws -> Int? {
      try Nginx.here?.settle()
      // A line is method, status and the target as it was sent.
      let wanted = "/\(name)\(path)"
      return String(decoding: try Disk.read(log), as: UTF8.self).split(separator: "\n").count {
        let words = $0.split(separator: " ")
        return words.count == 3 && String(words[2]).removingPercentEncoding == wanted
      }
    }
  }

  func url(_ server: Server) -> String {
    switch server {
    case .origin, .serve: ""
    case .nginx: url
    case .nginxTLS: tlsURL
    case .nginxHTTP2: http2URL
    }
  }

  func running(_ name: String, at url: String) -> Running {
    Running(
      base: "\(url)/\(name)/",
      pullArguments: url.hasPrefix("https") ? ["--cacert", certificates] : [], name: name, log: log)
  }

  /// Returns when the log holds everything that was answered before: its one process writes what it
  /// has answered before it answers somebody else.
  func settle() throws { _ = try Asker().ask("\(url)/") }

  /// Which connection a request for a path came over, and the version of HTTP.
  struct Visit: Hashable {
    let connection: String
    let version: String
  }

  /// Who asked for the path until now, one entry a request.
  func visits(_ path: String) throws -> [Visit] {
    try settle()
    let log = try Disk.read(Path.join(Path.parent(log), "connections.log"))
    return String(decoding: log, as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 4, words[3] == path else { return nil }
      return Visit(connection: String(words[0]), version: String(words[1]))
    }
  }
}
