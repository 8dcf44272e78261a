import Failure
import System
import Testing
import Transport

/// Proxies of others, and such as do wrong.
@Suite struct ProxyTests {
  private static func asker(
    _ proxy: String, trusts: Bool = true, isolation: String? = nil
  ) throws -> Asker {
    var server = try ProxyServer(proxy)
    server.isolation = isolation
    return Asker { policy in
      policy.proxy = ProxyChoice(server)
      policy.connectTimeout = 5
      if !trusts { policy.certificateFile = nil }
    }
  }

  /// A file of nginx, as the paths of both its servers end.
  private static func file() throws -> (Nginx, Scratch, path: String, bytes: [UInt8]) {
    let nginx = try #require(Nginx.here)
    let scratch = try Scratch(in: nginx.root)
    let bytes = randomBytes(100_000)
    try scratch.write("file", bytes)
    return (nginx, scratch, "/\(scratch.name)/file", bytes)
  }

  private static let areServersThere = Nginx.here != nil && ProxyProcess.isAvailable

  // MARK: Right

  @Test(
    "files come through a proxy, with and without TLS and HTTP/2, with and without a password",
    .enabled(if: areServersThere, ProxyProcess.need),
    arguments: ProxyProcess.Kind.allCases, [nil, "s3cret"])
  func through(_ kind: ProxyProcess.Kind, _ password: String?) throws {
    guard password == nil || ProxyProcess.Kind.withPassword.contains(kind) else { return }
    let (nginx, scratch, path, bytes) = try Self.file()
    defer { withExtendedLifetime(scratch) {} }
    let proxy = try ProxyProcess(kind, password: password)
    let asker = try Self.asker(password.map { proxy.url("user:\($0)") } ?? proxy.url)
    for server in [nginx.url, nginx.tlsURL, nginx.http2URL] {
      #expect(try asker.ask(server + path)?.body == bytes)
    }
    #expect(try nginx.visits(path).map(\.version) == ["HTTP/1.1", "HTTP/1.1", "HTTP/2.0"])
    if kind == .tinyproxy {
      #expect(proxy.log.contains("CONNECT") && proxy.log.contains("GET http://127.0.0.1"))
    }
  }

  @Test("a name is given to the proxy as it is")
  func names() throws {
    let http = try ScriptedPeer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
    _ = try Self.asker("http://\(http.address)").ask("https://no-such-host.invalid/file")
    let connect = String(decoding: http.heard.first ?? [], as: UTF8.self)
    #expect(connect.hasPrefix("CONNECT no-such-host.invalid:443 HTTP/1.1\r\n"))

    let socks = try ScriptedPeer([[5, 0], [5, 4, 0, 1, 0, 0, 0, 0, 0, 0]])
    let failure = try Self.asker("socks5h://\(socks.address)").failure(
      "http://no-such-host.invalid:81/file")
    #expect(failure?.category == .proxyUnreachable && failure?.exchange.isLocal == false)
    #expect(
      socks.heard.last == [5, 1, 0, 3, 20] + Array("no-such-host.invalid".utf8) + [0, 81])
  }

  @Test("headers of the user and passwords of the server are not told to the proxy of a tunnel")
  func tunnelSecrets() throws {
    let peer = try ScriptedPeer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
    let url = try WebURL("https://user:passw0rd@no-such-host.invalid/file?token=t0ken")
    let server = try ProxyServer("http://\(peer.address)")
    let asker = Asker { policy in
      policy.proxy = ProxyChoice(server)
      policy.headers = ["X-Secret: s3cret", "Authorization: Bearer b3arer"]
      policy.credentialsOrigin = url
    }
    #expect(asker.failure(Request(url))?.category == .proxyUnreachable)
    let heard = String(decoding: peer.heard.joined(), as: UTF8.self)
    #expect(heard.hasPrefix("CONNECT "))
    for secret in ["passw0rd", "t0ken", "s3cret", "b3arer", "uthorization"] {
      #expect(!heard.contains(secret))
    }
  }

  @Test("Tor hears another user or password for every origin and server")
  func isolation() throws {
    func told(_ origin: String, _ url: String) throws -> [UInt8] {
      // Wants a password, and takes none.
      let peer = try ScriptedPeer([[5, 2], [1, 1]])
      let failure = try Self.asker("socks5h://\(peer.address)", isolation: origin).failure(url)
      #expect(failure?.category == .proxyUnreachable)
      return peer.heard.last ?? []
    }
    let first = try told("https://example.org/thing/", "https://example.org/thing/manifest")
    #expect(first.prefix(2) == [1, 26])
    #expect(
      String(decoding: first.dropFirst(2).prefix(26), as: UTF8.self) == "https://example.org/thing/"
    )
    let others = [
      try told("https://example.org/thing/", "https://mirror.example/thing/manifest"),
      try told("https://example.org/other/", "https://example.org/thing/manifest"),
    ]
    #expect(Set(others + [first]).count == 3)
  }

  @Test("redirects go through the proxy too")
  func redirects() throws {
    let peer = try ScriptedPeer(
      "HTTP/1.1 302 Found\r\nLocation: http://elsewhere.invalid/x\r\nContent-Length: 0\r\n\r\n")
    let failure = try Self.asker("http://\(peer.address)").failure("http://here.invalid/x")
    #expect(failure?.category == .redirectRefused)
    let heard = String(decoding: peer.heard.joined(), as: UTF8.self)
    #expect(heard.contains("GET http://here.invalid/x HTTP/1.1\r\n"))
    #expect(heard.contains("GET http://elsewhere.invalid/x HTTP/1.1\r\n"))
  }

  // MARK: Wrong

  /// What a proxy may do, with what it says to whoever comes.
  static let faults: [(name: String, scheme: String, answers: [String], holds: Bool)] = [
    ("asks for a password", "http", ["HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"], false),
    ("refuses", "http", ["HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"], false),
    ("does not reach the server", "http", ["HTTP/1.1 502 No\r\n\r\n<html>no</html>"], false),
    ("redirects", "http", ["HTTP/1.1 302 No\r\nLocation: http://login/\r\n\r\n"], false),
    ("shows a login page", "http", ["HTTP/1.1 200 OK\r\n\r\n<html>log in</html>"], false),
    ("shows a page and no head", "http", ["<html>log in</html>"], false),
    ("says nothing", "http", [""], false),
    ("is silent for ever", "http", [""], true),
    ("speaks no TLS", "https", ["HTTP/1.1 400 No\r\n\r\n"], false),
    ("is silent in TLS", "https", [""], true),
    ("speaks no SOCKS", "socks5h", ["HTTP/1.1 400 No\r\n\r\n"], false),
    ("closes", "socks5h", [""], false),
    ("is silent", "socks5h", [""], true),
    ("wants a password", "socks5h", ["\u{5}\u{2}"], false),
    ("takes nothing", "socks5h", ["\u{5}\u{7F}"], false),
    ("refuses a connection", "socks5h", ["\u{5}\0", "\u{5}\u{2}\0\u{1}\0\0\0\0\0\0"], false),
    ("breaks off", "socks5h", ["\u{5}\0", "\u{5}\0\0"], false),
  ]

  @Test(
    "whatever a proxy does wrong is the fault of the proxy, and of no source",
    arguments: faults.indices)
  func faulty(_ index: Int) throws {
    let (name, scheme, answers, holds) = Self.faults[index]
    let peer = try ScriptedPeer(
      answers.map { Array($0.utf8.map { $0 == 0x7F ? 0xFF : $0 }) }, holds: holds)
    let proxy = "\(scheme)://\(peer.address)"
    let failure = try #require(
      try Self.asker(proxy).failure("https://no-such-host.invalid/file?secret"))
    #expect(failure.category == .proxyUnreachable, "\(name): \(failure)")
    #expect(failure.exitCode == 3 && failure.message.contains(proxy), "\(name): \(failure)")
    #expect(!failure.exchange.isLocal && !failure.message.contains("secret"), "\(name): \(failure)")
    #expect(peer.connectionCount >= 1)
  }

  @Test(
    "a proxy that is not there is nobody's fault", arguments: ["http", "https", "socks5h"],
    ["http", "https"])
  func absent(_ scheme: String, _ target: String) throws {
    let port = try ProxyProcess.freePort()
    let failure = try #require(
      try Self.asker("\(scheme)://127.0.0.1:\(port)").failure("\(target)://no-such.invalid/file"))
    #expect(failure.category == .proxyUnreachable && failure.exchange.isLocal)
    let unnamed = try #require(
      try Self.asker("\(scheme)://no-such-proxy.invalid:1").failure("\(target)://127.0.0.1/file"))
    #expect(unnamed.category == .proxyUnreachable && unnamed.exchange.isLocal)
    #expect(unnamed.message.contains("no-such-proxy.invalid"))
  }

  @Test("407 is the proxy's own where it is asked itself, and a status where it is the server's")
  func authenticationStatus() throws {
    let proxy = try ScriptedPeer("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
    let failure = try Self.asker("http://\(proxy.address)").failure("http://h.invalid/file")
    #expect(failure?.category == .proxyUnreachable)
    #expect(failure?.hint?.contains("--proxy-auth-file") == true)
    let scratch = try Scratch()
    let origin = try Origin(scratch.path) { _, response in response = OriginResponse(407, []) }
    #expect(try Asker().failure(origin.base + "file")?.httpStatus == 407)
  }

  @Test(
    "a wrong password is the fault of the proxy",
    .enabled(if: areServersThere, ProxyProcess.need), arguments: ProxyProcess.Kind.withPassword)
  func wrongPassword(_ kind: ProxyProcess.Kind) throws {
    let (nginx, scratch, path, _) = try Self.file()
    defer { withExtendedLifetime(scratch) {} }
    let proxy = try ProxyProcess(kind, password: "s3cret")
    for url in [proxy.url, proxy.url("user:wr0ng")] {
      for server in [nginx.url, nginx.tlsURL] {
        let failure = try #require(try Self.asker(url).failure(server + path))
        // tinyproxy answers wrong words with 401, which over plain http looks like the server's own.
        let looksLikeServer = kind == .tinyproxy && server == nginx.url && failure.httpStatus == 401
        #expect(failure.category == .proxyUnreachable || looksLikeServer, "\(failure)")
        #expect(!failure.message.contains("wr0ng"))
      }
    }
    #expect(try nginx.visits(path).isEmpty)
  }

  @Test(
    "what is wrong with the server behind a proxy is said of the server",
    .enabled(if: areServersThere, ProxyProcess.need), arguments: ProxyProcess.Kind.allCases)
  func serverFaults(_ kind: ProxyProcess.Kind) throws {
    let (nginx, scratch, path, _) = try Self.file()
    defer { withExtendedLifetime(scratch) {} }
    let proxy = try ProxyProcess(kind)
    #expect(
      try Self.asker(proxy.url, trusts: false).failure(nginx.tlsURL + path)?.category == .tls)
    #expect(
      try Self.asker(proxy.url).failure(nginx.tlsURL + "/no-such-file")?.httpStatus == 404)
    let silent = try ScriptedPeer("", holds: true)
    #expect(
      try Self.asker(proxy.url).failure("https://\(silent.address)/file")?.category == .timeout)
    let cut = try ScriptedPeer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
    #expect(
      try Self.asker(proxy.url).failure("http://\(cut.address)/file")?.category == .truncated)
  }

  @Test("a name that a proxy cannot be given asks nobody")
  func longName() throws {
    let label = String(repeating: "a", count: 63) + "."
    let peer = try ScriptedPeer([[5, 0]])
    let failure = try Self.asker("socks5h://\(peer.address)").failure(
      "http://\(label)\(label)\(label)\(label)com/file")
    #expect(failure?.category == .proxyUnreachable && peer.connectionCount == 0)
  }
}
