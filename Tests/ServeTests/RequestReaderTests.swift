import FaultOrigin
import Testing

@Suite struct RequestReaderTests {
  private func steps(_ text: String) -> RequestReader.Step {
    var reader = RequestReader()
    reader.append(Array(text.utf8))
    return reader.next()
  }

  private func head(_ text: String) throws -> RequestHead {
    guard case .request(let head) = steps(text) else { throw RequestRefusal.malformed }
    return head
  }

  @Test("a head is read, its names without regard to case, its values without blanks around them")
  func plain() throws {
    let head = try head(
      "GET /a?b HTTP/1.1\r\nhOsT: x\r\nX-A: \t1 2 \t\r\nX-B:\r\nx-a:3\r\n\r\n")
    #expect(head.method == "GET" && head.target == "/a?b" && head.version == .http11)
    #expect(head.fields.values("x-A") == ["1 2", "3"])
    #expect(head.fields.values("X-b") == [""])
    #expect(head.fields.single("x-a") == nil && head.fields.single("HOST") == "x")
    #expect(head.isPersistent && !head.hasBody)
  }

  @Test("a head that comes byte by byte is read when its last byte is here")
  func trickle() {
    let text = Array("\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
    var reader = RequestReader()
    for byte in text.dropLast() {
      reader.append([byte])
      #expect(reader.next() == .needsMore)
    }
    reader.append(text.suffix(1))
    guard case .request(let head) = reader.next() else {
      Issue.record("no request")
      return
    }
    #expect(head.method == "HEAD")
    #expect(reader.isEmpty && reader.next() == .needsMore)
  }

  @Test("two heads in one piece are two requests, and the beginning of a third is kept")
  func pipelined() {
    var reader = RequestReader()
    let rest = "\r\nHost: x\r\n\r\n"
    reader.append(Array("GET /1 HTTP/1.1\(rest)\r\nGET /2 HTTP/1.1\(rest)GET /3".utf8))
    for target in ["/1", "/2"] {
      guard case .request(let head) = reader.next() else {
        Issue.record("no request for \(target)")
        return
      }
      #expect(head.target == target)
    }
    #expect(reader.next() == .needsMore && !reader.isEmpty)
    reader.append(Array(" HTTP/1.1\(rest)".utf8))
    guard case .request(let head) = reader.next() else {
      Issue.record("no third request")
      return
    }
    #expect(head.target == "/3")
  }

  @Test(
    "a connection persists as version and fields say",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", true),
      ("GET / HTTP/1.9\r\nHost: x\r\n\r\n", true),
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n", true),
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade, Close\r\n\r\n", false),
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: a\r\nConnection: close\r\n\r\n", false),
      ("GET / HTTP/1.0\r\n\r\n", false),
      ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false),
      ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", true),
      ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n", false),
      ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", false),
    ])
  func persistence(_ text: String, _ persists: Bool) throws {
    #expect(try head(text).isPersistent == persists)
  }

  @Test(
    "what two readers could read differently is refused",
    arguments: [
      "GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\r\nHost: x\n\r\n", "\n", "\r\n\n",
      "GET /  HTTP/1.1\r\nHost: x\r\n\r\n", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
      " GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n",
      "GET /\r\n\r\n", "GET\t/\tHTTP/1.1\r\nHost: x\r\n\r\n", "G T / HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", "GET /\u{e9} HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / http/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/11\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.10\r\nHost: x\r\n\r\n", "(GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "GET / HTTP/1.1\r\n Host: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\n 2\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\n: 1\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: 1\r2\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: \u{7f}\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x y\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
  func malformed(_ text: String) {
    #expect(steps(text) == .refused(.malformed))
  }

  @Test("another major version is refused", arguments: ["HTTP/2.0", "HTTP/0.9", "HTTP/3.1"])
  func version(_ version: String) {
    #expect(steps("PRI * \(version)\r\n\r\n") == .refused(.unsupportedVersion))
  }

  @Test("a head may have 65,536 bytes and no more")
  func limit() throws {
    let begin = "GET / HTTP/1.1\r\nHost: x\r\nX: "
    let filling = RequestReader.headLimit - begin.utf8.count - 4
    let whole = begin + String(repeating: "a", count: filling) + "\r\n\r\n"
    #expect(try head(whole).fields.single("x")?.utf8.count == filling)
    let longer = begin + String(repeating: "a", count: filling + 1) + "\r\n\r\n"
    #expect(steps(longer) == .refused(.headTooLarge))
    let line = "GET /" + String(repeating: "a", count: RequestReader.headLimit)
    #expect(steps(line) == .refused(.targetTooLong))
    #expect(steps(String(line.prefix(RequestReader.headLimit))) == .needsMore)
  }
}
