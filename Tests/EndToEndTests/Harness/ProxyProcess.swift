import Glibc
import System
import Testing

/// A proxy of others, on the loopback address.
final class ProxyProcess: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case tinyproxy
    case microsocks
    case squid
    case dante

    var path: String {
      switch self {
      case .tinyproxy, .microsocks: "/usr/bin/\(rawValue)"
      case .squid: "/usr/sbin/squid"
      case .dante: "/usr/sbin/danted"
      }
    }

    var scheme: String {
      switch self {
      case .tinyproxy, .squid: "http"
      case .microsocks, .dante: "socks5h"
      }
    }

    /// Those that can ask for a password; dante knows only those of the system's own users.
    static let withPassword = allCases.filter { $0 != .dante }
  }

  let kind: Kind
  /// `127.0.0.1:PORT`
  let address: String
  private let child: Child
  private let scratch: Scratch

  static let isAvailable = Kind.allCases.allSatisfy { Disk.exists($0.path) }
  static let need: Comment = "needs the proxies that Tests/run.sh installs"

  /// - Parameters:
  ///   - password: what `user` has to give; nil if nobody is asked.
  ///   - port: where it listens; nil for any.
  init(_ kind: Kind, password: String? = nil, port: UInt16? = nil) throws {
    self.kind = kind
    let scratch = try Scratch()
    self.scratch = scratch
    var started: (child: Child, port: UInt16)?
    // A port that was free a moment ago may be somebody else's by now.
    for _ in 0..<5 where started == nil {
      let port = try port ?? Self.freePort()
      let arguments = try Self.arguments(of: kind, port, password, in: scratch)
      let child = try Child(kind.path, arguments, environment: [:])
      let isHeard = waitUntil { Self.canConnect(port) || child.wait(within: 0) != nil }
      if isHeard, child.wait(within: 0) == nil { started = (child, port) }
    }
    let (child, chosen) = try #require(started, "\(kind) does not start")
    (self.child, address) = (child, "127.0.0.1:\(chosen)")
  }

  private static func arguments(
    of kind: Kind, _ port: UInt16, _ password: String?, in scratch: Scratch
  ) throws -> [String] {
    switch kind {
    case .tinyproxy:
      let lines = [
        "Port \(port)", "Listen 127.0.0.1", "Allow 127.0.0.1", "Timeout 60", "LogLevel Connect",
        "ViaProxyName \"proxy-\(port)\"",
      ]
      let text = (lines + (password.map { ["BasicAuth user \($0)"] } ?? [])).map { $0 + "\n" }
      return ["-d", "-c", try scratch.write("tinyproxy.conf", Array(text.joined().utf8))]
    case .microsocks:
      return ["-i", "127.0.0.1", "-p", "\(port)"]
        + (password.map { ["-u", "user", "-P", $0] } ?? [])
    case .squid:
      // The name is that of its shared memory, too: two of one name do not live side by side.
      return ["-N", "-n", "p\(port)", "-f", try squidConfiguration(port, password, in: scratch)]
    case .dante:
      try #require(password == nil, "dante asks for none here")
      let lines = [
        "logoutput: stderr", "internal: 127.0.0.1 port = \(port)", "external: lo",
        "clientmethod: none", "socksmethod: none", "user.unprivileged: nobody",
        "client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }",
        "socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 command: connect }",
      ]
      let text = lines.map { $0 + "\n" }.joined()
      return ["-f", try scratch.write("danted.conf", Array(text.utf8))]
    }
  }

  private static func squidConfiguration(
    _ port: UInt16, _ password: String?, in scratch: Scratch
  ) throws -> String {
    var lines = [
      "http_port 127.0.0.1:\(port)", "cache deny all", "cache_mem 1 MB", "access_log none",
      "cache_log /dev/null", "pid_filename none", "pinger_enable off", "netdb_filename none",
      "dns_timeout 2 seconds", "visible_hostname proxy-\(port)", "shutdown_lifetime 0 seconds",
    ]
    if let password {
      let hash = try Outcome(
        of: Child("/usr/bin/openssl", ["passwd", "-apr1", password], environment: [:]))
      hash.expect(0)
      let file = try scratch.write("passwords", Array("user:\(hash.line)\n".utf8))
      // Started by root, it reads the file as a user of its own.
      chmod(scratch.path, 0o711)
      lines += [
        "auth_param basic program /usr/lib/squid/basic_ncsa_auth \(file)",
        "auth_param basic children 1", "acl known proxy_auth REQUIRED", "http_access allow known",
      ]
    } else {
      lines.append("http_access allow localhost")
    }
    return try scratch.write("squid.conf", Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  /// The URL of the proxy.
  var url: String { "\(kind.scheme)://\(address)" }

  /// What a request over plain HTTP says in `Via` if it came through this one.
  var mark: String { "proxy-\(address.split(separator: ":").last ?? "")" }

  func url(_ userinfo: String) -> String { url.replacing("://", with: "://\(userinfo)@") }

  /// What the proxy said of its requests.
  var log: String { String(decoding: child.output + child.error, as: UTF8.self) }

  deinit { end() }

  func end() {
    child.send(SIGKILL)
    _ = child.wait(within: Fetchres.patience)
    // A squid that is killed leaves its shared memory behind.
    guard kind == .squid, let port = address.split(separator: ":").last else { return }
    for name in Disk.names(in: "/dev/shm") where name.hasPrefix("p\(port)-cf__") {
      try? Disk.remove("/dev/shm/\(name)")
    }
  }

  /// A port that was free a moment ago.
  static func freePort() throws -> UInt16 {
    try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0"))).localAddress().port
  }

  private static func canConnect(_ port: UInt16) -> Bool {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(number) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
