import Failure
import TestSupport
import Testing

@testable import Transport

@Suite struct ResponseHeadTests {
  @Test(arguments: [
    ("HTTP/1.1 206 Partial Content", 206), ("HTTP/1.1 200", 200), ("HTTP/1.1 200 ", 200),
    ("HTTP/2 404", 404), ("HTTP/1.0 500 a b c", 500), ("HTTP/1.1  200 OK", 200),
  ])
  func `a status line is read`(_ line: String, _ status: Int) {
    #expect(ResponseHead(statusLine: line)?.status == status)
  }

  @Test(arguments: [
    "", "HTTP/1.1", "ICY 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 abc OK",
    "HTTP/1.1 -20 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 099 OK", "200 OK", "<html>",
  ])
  func `anything else is no status line`(_ line: String) {
    #expect(ResponseHead(statusLine: line) == nil)
  }

  private func head(_ lines: String..., status: Int = 206) throws(FetchFailure) -> ResponseHead {
    var head = ResponseHead(status: status)
    for line in lines { try head.add(line: line) }
    return head
  }

  @Test func `names are compared without case and values are trimmed`() throws {
    let head = try head("Content-Type: \t text/html \t", "X-Empty:", "X:y:z")
    #expect(head["content-type"] == "text/html")
    #expect(head["x-empty"] == "")
    #expect(head["x"] == "y:z")
    #expect(head["other"] == nil)
  }

  @Test func `a repeated field keeps its last value`() throws {
    let head = try head("Content-Length: 5", "content-length: 7")
    #expect(head.contentLength == 7)
  }

  @Test func `lines without a colon are ignored`() throws {
    let head = try head("garbage", "", "\u{FFFD}\u{FFFD}", "ETag: x")
    #expect(head.fields == ["etag": "x"])
  }

  @Test func `header lines are bounded together, to the byte`() throws {
    // With the line end, each line is 64 bytes.
    let line = "x: " + String(repeating: "y", count: 59)
    var head = ResponseHead(status: 200)
    for _ in 0..<1_024 { try head.add(line: line) }
    #expect(category { () throws(FetchFailure) in try head.add(line: "") } == .tooLarge)
    #expect(
      category { () throws(FetchFailure) in
        var one = ResponseHead(status: 200)
        try one.add(line: "x:" + String(repeating: "y", count: 1 << 20))
      } == .tooLarge)
  }

  @Test func `junk without a colon counts too`() throws {
    var head = ResponseHead(status: 200)
    let refusal = failure { () throws(FetchFailure) in
      for _ in 0..<10_000 { try head.add(line: "no field at all") }
    }
    #expect(refusal?.category == .tooLarge)
  }

  @Test(arguments: [("5", 5), ("0", 0), ("9223372036854775807", Int64.max), ("5 ", 5)])
  func `a length is strict decimal text`(_ text: String, _ length: Int64) throws {
    #expect(try head("Content-Length: \(text)").contentLength == length)
  }

  @Test(arguments: [
    "", "-1", "+5", "05", "5,5", "99999999999999999999", "0x5", "9223372036854775808",
  ])
  func `a length that is none is longer than anything asked for`(_ text: String) throws {
    #expect(try head("Content-Length: \(text)").contentLength == .max)
  }

  @Test(arguments: [
    (301, true), (302, true), (303, true), (307, true), (308, true), (300, false), (304, false),
    (305, false), (200, false),
  ])
  func `a redirect needs one of five states and a location`(_ status: Int, _ isRedirect: Bool)
    throws
  {
    #expect(try head("Location: /x", status: status).isRedirect == isRedirect)
    #expect(try !head(status: status).isRedirect)
  }

  @Test func `the summary says what came and is short`() throws {
    let login = try head(
      "Content-Type: text/html; charset=utf-8", "Content-Length: 635", status: 200)
    #expect(login.summary == "HTTP 200, text/html, 635 bytes")
    #expect(ResponseHead(status: 503).summary == "HTTP 503")
    let long = try head("Content-Type: " + String(repeating: "x", count: 9_000))
    #expect(long.summary.count < 100)
    // A single character of many scalars is no way around it.
    let marks = "a" + String(repeating: "\u{301}", count: 15_000)
    #expect(try head("Content-Type: \(marks)").summary.utf8.count < 200)
    let encoding = failure { () throws(FetchFailure) in
      try head("Content-Encoding: \(marks)").checkEncoding()
    }
    #expect(try #require(encoding).message.utf8.count < 200)
  }

  @Test(arguments: ["gzip", "br", "identity, gzip", "GZIP", "x", "chunked"])
  func `an encoded body is refused`(_ encoding: String) throws {
    let head = try head("Content-Encoding: \(encoding)")
    #expect(category { () throws(FetchFailure) in try head.checkEncoding() } == .encodedBody)
  }

  @Test(arguments: ["identity", "Identity", " identity ", ""])
  func `the identity is no encoding`(_ encoding: String) throws {
    try head("Content-Encoding: \(encoding)").checkEncoding()
    try head().checkEncoding()
  }

  @Test func `a status that was not wanted is kept in the failure`() throws {
    try ResponseHead(status: 206).checkStatus(200, 206)
    let refusal = failure { () throws(FetchFailure) in
      try ResponseHead(status: 503).checkStatus(200, 206)
    }
    #expect(refusal?.category == .httpStatus)
    #expect(refusal?.httpStatus == 503)
    #expect(refusal?.exitCode == 3)
    let gone = failure { () throws(FetchFailure) in try ResponseHead(status: 404).checkStatus(200) }
    #expect(gone?.exitCode == 4)
  }
}
