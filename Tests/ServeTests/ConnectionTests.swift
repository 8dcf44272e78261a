import FaultOrigin
import Testing

/// How connections begin, go on and end.
@Suite struct ConnectionTests {
  private static let get = "GET /f HTTP/1.1\r\nHost: x\r\n\r\n"

  private func site(_ size: Int = 1_000) throws -> ServeSite {
    let site = try ServeSite()
    try site.write("f", patternBytes(size))
    return site
  }

  @Test("one connection serves one request after the other")
  func keepAlive() throws {
    let site = try site()
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    for target in ["/f", "/missing", "/f"] {
      #expect(try client.ask("GET", target).status == (target == "/f" ? 200 : 404))
    }
    let last = try client.ask("GET", "/f", "Connection: close")
    #expect(last.fields["connection"] == "close" && last.body.count == 1_000)
    #expect(try client.readToEnd() == [])
  }

  @Test("requests that came in one piece are answered in their order")
  func pipelined() throws {
    let site = try site()
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    let count = 50
    try client.send(
      (0..<count).map { "GET /f HTTP/1.1\r\nHost: x\r\nRange: bytes=\($0)-\($0)\r\n\r\n" }.joined())
    for index in 0..<count {
      #expect(try client.readAnswer().fields["content-range"] == "bytes \(index)-\(index)/1000")
    }
  }

  @Test("HTTP/1.0 gets one answer, without a Host, and the end")
  func oldVersion() throws {
    let site = try site()
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    try client.send("GET /f HTTP/1.0\r\nConnection: keep-alive\r\n\r\n\(Self.get)")
    let answer = try client.readAnswer()
    #expect(answer.status == 200 && answer.fields["connection"] == "close")
    #expect(try client.readToEnd() == [])
  }

  @Test(
    "a head that is refused gets its status and the end",
    arguments: [
      ("GET /f HTTP/1.1\r\n\r\n", 400), ("GET /f\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\n", 400),
      ("PRI * HTTP/2.0\r\n\r\n", 505),
      ("GET /f HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 70_000))\r\n\r\n", 431),
      ("GET /\(String(repeating: "a", count: 300_000)) HTTP/1.1\r\nHost: x\r\n\r\n", 414),
      ("GET /f HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /", 413),
      ("GET /f HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413),
      ("POST /f HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 405),
    ])
  func refused(_ text: String, _ status: Int) throws {
    let site = try site()
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    try client.send(text)
    let answer = try client.readAnswer()
    #expect(answer.status == status && answer.fields["connection"] == "close")
    #expect(try client.readToEnd() == [])
  }

  @Test("twenty connections are served side by side")
  func parallel() throws {
    let site = try site(1_000_000)
    let bytes = patternBytes(1_000_000)
    let server = try site.serve()
    defer { server.stop() }
    let clients = try (0..<20).map { _ in try RawClient(server.address) }
    for client in clients { try client.send(Self.get) }
    // The last one is read first: no connection waits for another one.
    for client in clients.reversed() { #expect(try client.readAnswer().body == bytes) }
    for client in clients { #expect(try client.ask("HEAD", "/f").status == 200) }
  }

  @Test("a connection beyond the limit waits until another one ends")
  func limit() throws {
    let site = try site()
    let server = try site.serve(connectionLimit: 1)
    defer { server.stop() }
    let first = try RawClient(server.address)
    #expect(try first.ask("GET", "/f").status == 200)
    let second = try RawClient(server.address)
    try second.send(Self.get)
    #expect(try first.ask("GET", "/f").status == 200)
    #expect(try !second.hasInput)
    first.socket.shutdown()
    #expect(try second.readAnswer().status == 200)
  }

  @Test("a peer that sends nothing, or half a head, loses its connection")
  func idle() throws {
    let site = try site()
    let server = try site.serve(idleTimeout: 0.1)
    defer { server.stop() }
    #expect(try RawClient(server.address).readToEnd() == [])
    let half = try RawClient(server.address)
    try half.send("GET /f HTT")
    #expect(try half.readAnswer().status == 408)
    #expect(try half.readToEnd() == [])
  }

  @Test("a head that comes byte by byte has no more time than any other")
  func trickle() throws {
    let site = try site()
    let server = try site.serve(idleTimeout: 0.3)
    defer { server.stop() }
    let client = try RawClient(server.address)
    try client.send("GET /")
    // Each look waits some milliseconds, so that bytes keep coming for seconds.
    var sent = 0
    while sent < 1_000, try !client.hasInput {
      try client.send("a")
      sent += 1
    }
    #expect(sent < 1_000)
    #expect(try client.readAnswer().status == 408)
  }

  @Test("a peer that takes nothing loses its connection to one who waits")
  func stalled() throws {
    let site = try site()
    try site.makeSparse("large", size: 1 << 30)
    let server = try site.serve(connectionLimit: 1, idleTimeout: 0.1)
    defer { server.stop() }
    let stalled = try RawClient(server.address)
    try stalled.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    let waiting = try RawClient(server.address)
    #expect(try waiting.ask("GET", "/f").status == 200)
  }

  @Test("a file that becomes shorter under way ends the connection, not the server")
  func shortened() throws {
    let site = try site()
    try site.makeSparse("large", size: 1 << 30)
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    try client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    try client.waitForInput()
    try site.makeSparse("large", size: 1 << 20)
    #expect(throws: RawClient.Ended.self) { try client.readAnswer() }
    #expect(try RawClient(server.address).ask("GET", "/f").status == 200)
  }

  @Test("a peer that goes away in the middle of an answer harms nobody")
  func gone() throws {
    let site = try site()
    try site.makeSparse("large", size: 1 << 30)
    let server = try site.serve()
    defer { server.stop() }
    for resets in [false, true] {
      let client = try RawClient(server.address)
      try client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
      try client.waitForInput()
      if resets { try client.socket.resetOnClose() }
    }
    #expect(try RawClient(server.address).ask("GET", "/f").status == 200)
  }
}
