import Failure
import System
import Testing
import Transport

/// Small files over HTTP/2, and what goes wrong there.
@Suite struct HTTP2Tests {
  /// Twenty files below the root of nginx.
  private static func files() throws -> (Nginx, Scratch, [[UInt8]]) {
    let nginx = try #require(Nginx.here)
    let scratch = try Scratch(in: nginx.root)
    let files = (0..<20).map { _ in randomBytes(3_000) }
    for (index, bytes) in files.enumerated() { try scratch.write("\(index)", bytes) }
    return (nginx, scratch, files)
  }

  private static func requests(
    _ base: String, _ count: Int, version: HTTPVersion = .automatic
  ) throws -> [Request] {
    try (0..<count).map {
      var request = Request(try WebURL("\(base)\($0)"))
      request.version = version
      return request
    }
  }

  // MARK: nginx

  @Test(
    "twenty files that are asked for at once share one connection",
    .enabled(if: Nginx.here != nil, Nginx.need))
  func shared() throws {
    let (nginx, scratch, files) = try Self.files()
    let answers = Asker().ask(try Self.requests("\(nginx.http2URL)/\(scratch.name)/", 20))
    #expect(answers.map { $0?.body } == files)
    var visits: Set<Nginx.Visit> = []
    for index in 0..<20 { visits.formUnion(try nginx.visits("/\(scratch.name)/\(index)")) }
    #expect(visits.count == 1)
    #expect(visits.first?.version == "HTTP/2.0")
  }

  @Test(
    "who wants HTTP/1.1 gets it, even from a connection that is there for HTTP/2",
    .enabled(if: Nginx.here != nil, Nginx.need))
  func http1() throws {
    let (nginx, scratch, files) = try Self.files()
    let base = "\(nginx.http2URL)/\(scratch.name)/"
    let asker = Asker()
    #expect(try asker.ask("\(base)0")?.body == files[0])
    #expect(try asker.ask(Self.requests(base, 1, version: .http1)).map { $0?.body } == [files[0]])
    #expect(
      try nginx.visits("/\(scratch.name)/0").map(\.version) == ["HTTP/2.0", "HTTP/1.1"])
  }

  @Test(
    "a server without HTTP/2 is asked over HTTP/1.1, and over several connections at once",
    .enabled(if: Nginx.here != nil, Nginx.need))
  func none() throws {
    let (nginx, scratch, files) = try Self.files()
    let answers = Asker().ask(try Self.requests("\(nginx.tlsURL)/\(scratch.name)/", 20))
    #expect(answers.map { $0?.body } == files)
    #expect(try nginx.visits("/\(scratch.name)/7").map(\.version) == ["HTTP/1.1"])
  }

  @Test(
    "a server that ends every connection after three requests answers twenty at once",
    .enabled(if: Nginx.here != nil, Nginx.need))
  func short() throws {
    let (nginx, scratch, files) = try Self.files()
    let asker = Asker()
    for _ in 0..<3 {
      let answers = asker.ask(try Self.requests("\(nginx.http2ShortURL)/\(scratch.name)/", 20))
      for (answer, file) in zip(answers, files) {
        // Whom it turned away loses nothing by asking again.
        if let failure = answer?.failure {
          #expect(failure.exchange.wasUnprocessed, "\(failure)")
        } else {
          #expect(answer?.body == file)
        }
      }
      #expect(answers.contains { $0?.body != nil })
    }
  }

  @Test(
    "a server with one stream at a time answers twenty at once",
    .enabled(if: Nginx.here != nil, Nginx.need))
  func narrow() throws {
    let (nginx, scratch, files) = try Self.files()
    let answers = Asker().ask(try Self.requests("\(nginx.http2NarrowURL)/\(scratch.name)/", 20))
    #expect(answers.map { $0?.body } == files)
  }

  // MARK: Faults

  private static func served(
    _ fault: String, _ count: Int
  ) throws -> (HTTP2Server, Scratch, [[UInt8]]) {
    let scratch = try Scratch()
    let files = (0..<6).map { _ in randomBytes(3_000) }
    for (index, bytes) in files.enumerated() { try scratch.write("\(index)", bytes) }
    return (try HTTP2Server(scratch.path, fault: fault, count: count), scratch, files)
  }

  // covers: F15
  @Test(
    "streams that were refused are asked for again on another connection",
    .enabled(if: HTTP2Server.isAvailable, HTTP2Server.need))
  func refusedOnce() throws {
    let (server, scratch, files) = try Self.served("refuse", 3)
    defer { withExtendedLifetime(scratch) {} }
    let answers = Asker().ask(try Self.requests(server.base, 6))
    #expect(answers.map { $0?.body } == files)
    #expect(server.entries.count == 9)
  }

  // covers: F15
  @Test(
    "a server that refuses every stream has processed none, and that ends",
    .enabled(if: HTTP2Server.isAvailable, HTTP2Server.need))
  func refusedAlways() throws {
    let (server, scratch, _) = try Self.served("refuse", 1_000_000)
    defer { withExtendedLifetime(scratch) {} }
    for answer in Asker().ask(try Self.requests(server.base, 6)) {
      let failure = try #require(answer?.failure)
      #expect(failure.category == .truncated && failure.exitCode == 3)
      #expect(failure.exchange.wasUnprocessed && failure.exchange.isHTTP2Fault)
    }
    #expect(server.entries.count <= 6 * 6)
  }

  // covers: F15
  @Test(
    "streams behind a GOAWAY were not processed, and succeed when they are asked for again",
    .enabled(if: HTTP2Server.isAvailable, HTTP2Server.need))
  func goaway() throws {
    let (server, scratch, files) = try Self.served("goaway", 3)
    defer { withExtendedLifetime(scratch) {} }
    let asker = Asker()
    var unanswered = Array(files.indices)
    for _ in 0..<6 where !unanswered.isEmpty {
      let requests = try Self.requests(server.base, 6)
      let answers = asker.ask(unanswered.map { requests[$0] })
      unanswered = zip(unanswered, answers).compactMap { index, answer in
        guard let failure = answer?.failure else {
          #expect(answer?.body == files[index])
          return nil
        }
        #expect(failure.category == .truncated)
        #expect(failure.exchange.wasUnprocessed && failure.exchange.wasReused, "\(failure)")
        return index
      }
    }
    #expect(unanswered.isEmpty)
  }

  @Test(
    "what breaks in HTTP/2 is transient, and said to be a fault of HTTP/2",
    .enabled(if: HTTP2Server.isAvailable, HTTP2Server.need),
    arguments: ["calm-stream", "calm", "break"])
  func faults(_ fault: String) throws {
    let (server, scratch, _) = try Self.served(fault, 1_000_000)
    defer { withExtendedLifetime(scratch) {} }
    let failure = try #require(try Asker().failure("\(server.base)0"))
    #expect(failure.category == .truncated && failure.exitCode == 3)
    #expect(failure.exchange.isHTTP2Fault)
    #expect(!failure.exchange.wasUnprocessed && !failure.exchange.needsHTTP2)
    #expect(failure.source == "\(server.base)0")
  }

  @Test(
    "after a fault the next request is served",
    .enabled(if: HTTP2Server.isAvailable, HTTP2Server.need),
    arguments: ["refuse", "calm-stream", "calm", "break", "garbage", "close"])
  func recovers(_ fault: String) throws {
    let (server, scratch, files) = try Self.served(fault, 1)
    defer { withExtendedLifetime(scratch) {} }
    let asker = Asker()
    if let failure = try asker.failure("\(server.base)0") {
      #expect(failure.exitCode == 3, "\(failure)")
    }
    #expect(try asker.ask("\(server.base)1")?.body == files[1])
  }

  // MARK: Servers that speak nothing else

  @Test(
    "a server that answers HTTP/1.1 with 505 needs HTTP/2, and is asked so",
    .enabled(if: HTTP2Server.isAvailable, HTTP2Server.need))
  func versionNotSupported() throws {
    let (server, scratch, files) = try Self.served("no-http1", 0)
    defer { withExtendedLifetime(scratch) {} }
    let asker = Asker()
    var request = try Self.requests(server.base, 1, version: .http1)[0]
    let failure = try #require(asker.failure(request))
    #expect(failure.category == .httpStatus && failure.httpStatus == 505)
    #expect(failure.exchange.needsHTTP2 && !failure.exchange.isHTTP2Fault)
    request.version = .automatic
    #expect(asker.ask(request)?.body == files[0])
    #expect(server.entries.map(\.version) == ["1.1", "2"])
  }

  @Test(
    "a server that ends the TLS handshake for want of HTTP/2 needs it",
    .enabled(if: Nginx.here != nil, Nginx.need))
  func alert() throws {
    let nginx = try #require(Nginx.here)
    let server = try Child(
      "/usr/bin/openssl",
      [
        "s_server", "-accept", "127.0.0.1:0", "-cert", nginx.serverCertificate, "-key",
        nginx.serverKey, "-alpn", "h2", "-www",
      ], environment: [:])
    #expect(
      server.waitForOutput(within: Fetchres.patience) { $0.contains("ACCEPT 127.0.0.1:") })
    let output = String(decoding: server.output, as: UTF8.self)
    let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") })
    let request = try Self.requests("https://\(line.dropFirst(7))/", 1, version: .http1)[0]
    let failure = try #require(Asker().failure(request))
    #expect(failure.category == .tls && failure.exchange.needsHTTP2, "\(failure)")
  }

  @Test("over plain HTTP, where HTTP/2 is not offered, a 505 is a status like any other")
  func plain() throws {
    let scratch = try Scratch()
    let origin = try Origin(scratch.path) { _, response in response = OriginResponse(505, []) }
    var request = Request(try WebURL(origin.base + "x"))
    request.version = .http1
    let failure = try #require(Asker().failure(request))
    #expect(failure.httpStatus == 505 && !failure.exchange.needsHTTP2)
  }
}
