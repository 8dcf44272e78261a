import FaultOrigin
import Testing

/// What a server says, over a real connection.
@Suite struct AnswerTests {
  @Test("a file is answered with all its fields and all its bytes")
  func whole() throws {
    let site = try ServeSite()
    let bytes = patternBytes(300_000)
    try site.write("releases/1/f", bytes)
    let server = try site.serve()
    defer { server.stop() }
    let answer = try RawClient(server.address).ask("GET", "/releases/1/f?query=../x")
    #expect(answer.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(answer.body == bytes)
    #expect(answer.fields["content-type"] == "application/octet-stream")
    #expect(answer.fields["cache-control"] == "public, max-age=31536000, immutable")
    #expect(answer.fields["accept-ranges"] == "bytes")
    #expect(answer.fields["last-modified"]?.hasSuffix(" GMT") == true)
    #expect(answer.fields["date"]?.hasSuffix(" GMT") == true)
    #expect(answer.fields["etag"]?.hasPrefix("\"") == true)
    #expect(answer.fields["transfer-encoding"] == nil && answer.fields["connection"] == nil)
    #expect(answer.fields["content-range"] == nil)
  }

  @Test("a manifest is text, and nobody keeps it for long")
  func manifest() throws {
    let site = try ServeSite()
    try site.write("manifest", Array("fetchres manifest v1\n".utf8))
    let server = try site.serve()
    defer { server.stop() }
    #expect(server.manifestURL == "http://\(server.address)/manifest")
    let answer = try RawClient(server.address).ask("GET", "http://any.host/manifest")
    #expect(answer.status == 200 && answer.text == "fetchres manifest v1\n")
    #expect(answer.fields["content-type"] == "text/plain; charset=utf-8")
    #expect(answer.fields["cache-control"] == "max-age=5")
  }

  @Test("ranges are answered with their bytes and their place", arguments: [0, 1, 2, 100_000])
  func ranges(_ size: Int) throws {
    let site = try ServeSite()
    let bytes = patternBytes(size)
    try site.write("f", bytes)
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)

    func expect(_ range: String, _ part: Range<Int>?) throws {
      let answer = try client.ask("GET", "/f", "Range: \(range)")
      if let part {
        #expect(answer.status == 206, "\(range) of \(size)")
        #expect(answer.body == Array(bytes[part]), "\(range) of \(size)")
        #expect(
          answer.fields["content-range"]
            == "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
        #expect(answer.fields["etag"] != nil)
      } else {
        #expect(answer.status == 416, "\(range) of \(size)")
        #expect(answer.fields["content-range"] == "bytes */\(size)")
      }
    }

    try expect("bytes=0-0", size > 0 ? 0..<1 : nil)
    try expect("bytes=0-", size > 0 ? 0..<size : nil)
    try expect("bytes=\(size)-", nil)
    try expect("bytes=\(size)-\(size + 5)", nil)
    try expect("bytes=-0", nil)
    if size > 0 {
      try expect("bytes=\(size - 1)-\(size - 1)", size - 1..<size)
      try expect("bytes=\(size - 1)-\(size + 100)", size - 1..<size)
      try expect("bytes=-1", size - 1..<size)
      try expect("bytes=-\(size + 1)", 0..<size)
      try expect("bytes=\(size / 2)-\(size * 3 / 4)", size / 2..<min(size, size * 3 / 4 + 1))
    }
    for ignored in ["bytes=0-0,1-1", "bytes=x", "lines=0-0"] {
      let answer = try client.ask("GET", "/f", "Range: \(ignored)")
      #expect(answer.status == 200 && answer.body == bytes, "\(ignored) of \(size)")
    }
  }

  @Test("a range across the 4 GiB line has the bytes from both sides")
  func large() throws {
    let site = try ServeSite()
    let line: Int64 = 1 << 32
    try site.makeSparse("f", size: line + 1_000)
    try site.poke("f", at: line - 2, [1, 2, 3, 4])
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    let head = try client.ask("HEAD", "/f")
    #expect(head.fields["content-length"] == "4294968296")
    let answer = try client.ask("GET", "/f", "Range: bytes=\(line - 3)-\(line + 2)")
    #expect(answer.body == [0, 1, 2, 3, 4, 0])
    #expect(answer.fields["content-range"] == "bytes 4294967293-4294967298/4294968296")
    let last = try client.ask("GET", "/f", "Range: bytes=-1")
    #expect(last.fields["content-range"] == "bytes 4294968295-4294968295/4294968296")
    #expect(last.body == [0])
  }

  @Test("If-Range gives the part of the same file and the whole of another")
  func ifRange() throws {
    let site = try ServeSite()
    try site.write("f", patternBytes(100))
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    let whole = try client.ask("GET", "/f")
    let tag = try #require(whole.fields["etag"])
    let date = try #require(whole.fields["last-modified"])
    let range = "Range: bytes=1-2"
    #expect(try client.ask("GET", "/f", range, "If-Range: \(tag)").status == 206)
    for other in ["\"other\"", "W/\(tag)", date, "*", "\(tag), \(tag)"] {
      let answer = try client.ask("GET", "/f", range, "If-Range: \(other)")
      #expect(answer.status == 200 && answer.body.count == 100, "\(other)")
    }
    #expect(
      try client.ask("GET", "/f", range, "If-Range: \(tag)", "If-Range: \(tag)").status == 200)
  }

  @Test("conditions on tag and date are kept")
  func conditions() throws {
    let site = try ServeSite()
    try site.write("f", patternBytes(10))
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    let whole = try client.ask("GET", "/f")
    let tag = try #require(whole.fields["etag"])
    let date = try #require(whole.fields["last-modified"])
    let (past, future) = ("Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 31 Dec 2099 23:59:59 GMT")
    for (line, status) in [
      ("If-None-Match: \(tag)", 304), ("If-None-Match: \"a\", W/\(tag)", 304),
      ("If-None-Match: *", 304), ("If-None-Match: \"a\"", 200), ("If-Match: \(tag)", 200),
      ("If-Match: *", 200), ("If-Match: \"a\"", 412), ("If-Match: W/\(tag)", 412),
      ("If-Modified-Since: \(date)", 304), ("If-Modified-Since: \(past)", 200),
      ("If-Modified-Since: \(future)", 304), ("If-Modified-Since: yesterday", 200),
      ("If-Unmodified-Since: \(past)", 412), ("If-Unmodified-Since: \(date)", 200),
      ("If-None-Match: \"a\"\r\nIf-Modified-Since: \(date)", 200),
      ("If-Match: \(tag)\r\nIf-Unmodified-Since: \(past)", 200),
      ("If-None-Match: \(tag)\r\nRange: bytes=99-", 304),
    ] {
      let answer = try client.ask("GET", "/f", line)
      #expect(answer.status == status, "\(line)")
      if status == 304 {
        #expect(answer.fields["etag"] == tag && answer.fields["content-length"] == nil)
      }
    }
  }

  @Test("HEAD has the fields of GET and no body, whatever the answer")
  func head() throws {
    let site = try ServeSite()
    try site.write("f", patternBytes(5_000))
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    var get = try client.ask("GET", "/f").fields
    var head = try client.ask("HEAD", "/f").fields
    (get["date"], head["date"]) = (nil, nil)
    #expect(head == get && head["content-length"] == "5000")
    // The next answer begins where the last one ended: a body in between would be read as its head.
    #expect(try client.ask("HEAD", "/f", "Range: bytes=1-2").status == 200)
    #expect(try client.ask("HEAD", "/missing").status == 404)
    #expect(try client.ask("GET", "/f").status == 200)
  }

  @Test("other methods are not allowed, and the answer says which are")
  func methods() throws {
    let site = try ServeSite()
    try site.write("f", [1])
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "get", "TRACE"] {
      let answer = try client.ask(method, "/f")
      #expect(answer.status == 405 && answer.fields["allow"] == "GET, HEAD", "\(method)")
    }
    let options = try client.ask("OPTIONS", "*")
    #expect(options.status == 405)
  }

  @Test("what is hidden, outside or no file is not found, over the wire too")
  func notFound() throws {
    let site = try ServeSite()
    try site.write(".publish/next", Array("hidden".utf8))
    try site.write("releases/.new-1/f", Array("hidden".utf8))
    try site.write("a/f", [1])
    try site.writeOutside("secret", Array("hidden".utf8))
    try site.link("out", to: site.outside)
    try site.link("secret", to: site.outside + "/secret")
    let server = try site.serve()
    defer { server.stop() }
    let client = try RawClient(server.address)
    for target in [
      "/", "/a", "/a/", "/missing", "/.publish/next", "/%2epublish/next", "/releases/.new-1/f",
      "/../outside/secret", "/%2e%2e/outside/secret", "/a/..%2f..%2foutside/secret",
      "/a%2ff", "/out/secret", "/secret", "/a/f%00", "/a/%2e/f",
    ] {
      let answer = try client.ask("GET", target)
      #expect(answer.status == 404 && answer.text == "404 Not Found\n", "\(target)")
      #expect(answer.fields["cache-control"] == "no-store")
    }
    #expect(try client.ask("GET", "/%zz").status == 400)
  }
}
