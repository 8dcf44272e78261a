import Failure
import TestSupport
import Testing

@testable import Transport

@Suite struct ContentRangeTests {
  // covers: F03
  @Test(
    arguments: [
      ("bytes 0-0/1", 0..<1, 1), ("bytes 5-9/10", 5..<10, 10), ("Bytes 5-9/10", 5..<10, 10),
      ("BYTES 5-9/*", 5..<10, nil), ("bytes 5-9/*", 5..<10, nil), ("bytes  5-9/10", 5..<10, 10),
      (
        "bytes 9223372036854775805-9223372036854775806/9223372036854775807",
        9_223_372_036_854_775_805..<9_223_372_036_854_775_807, 9_223_372_036_854_775_807
      ),
      ("bytes 0-9223372036854775806/*", 0..<9_223_372_036_854_775_807, nil),
    ] as [(String, Range<Int64>, Int64?)])
  func `the spellings that servers use are read`(
    _ text: String, _ range: Range<Int64>, _ total: Int64?
  ) {
    #expect(ContentRange(text)?.range == range)
    #expect(ContentRange(text)?.total == total)
  }

  @Test(arguments: [
    "", "bytes", "bytes 0-1", "bytes */10", "bytes 1-0/10", "bytes 0-10/10", "bytes 0-9/9",
    "bytes 0-1/0", "bytes=0-1/10", "bytes 0-1/10/10", "bytes 0--1/10", "bytes -1-2/10",
    "bytes 0-1-2/10", "bytes 00-1/10", "bytes 0-01/10", "bytes +0-1/10", "bytes 0-1/+10",
    "bytes 0-1/010", "bytes 0 - 1 / 10", "bytes 0-1 /10", "bytes:0-1/10", "blocks 0-1/10",
    "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775807/9223372036854775807",
    "bytes 0-99999999999999999999/*", "bytes 0-1/99999999999999999999", "bytes a-b/c",
    "bytes 0-1/", "bytes -/10", "bytes 0-1/**", "bytes 0-1/10, bytes 2-3/10", "0-1/10",
    "bytes 0x0-0x1/10", "bytes \u{0661}-\u{0662}/10",
  ])
  func `anything else is no content range`(_ text: String) {
    #expect(ContentRange(text) == nil)
  }

  private func head(
    _ range: String? = "bytes 10-19/100", length: String? = "10", status: Int = 206,
    _ more: [String: String] = [:]
  ) -> ResponseHead {
    var fields = more
    fields["content-range"] = range
    fields["content-length"] = length
    return ResponseHead(status: status, fields: fields)
  }

  private func category(_ head: ResponseHead) -> FailureCategory? {
    TestSupport.category { () throws(FetchFailure) in try head.check(range: 10..<20, total: 100) }
  }

  @Test func `the answer to what was asked is taken`() {
    #expect(category(head()) == nil)
    #expect(category(head("Bytes 10-19/*")) == nil)
    #expect(category(head(length: nil)) == nil)
    #expect(category(head(length: nil, ["transfer-encoding": "chunked"])) == nil)
    #expect(category(head(length: "99", ["transfer-encoding": "chunked"])) == nil)
    #expect(category(head(["content-encoding": "identity"])) == nil)
  }

  @Test func `a length beyond all numbers is that of no range`() {
    #expect(category(head(length: "99999999999999999999")) == .rangeMismatch)
  }

  private func head(_ more: [String: String]) -> ResponseHead { head("bytes 10-19/100", more) }

  @Test(arguments: [
    "bytes 9-18/100", "bytes 11-20/100", "bytes 10-18/100", "bytes 10-20/100", "bytes 0-99/100",
    "bytes 10-10/100", "bytes 10-19/99", "bytes 10-19/101", "bytes 10-19/20",
  ])
  func `another window or total is refused`(_ range: String) {
    #expect(category(head(range)) == .rangeMismatch)
  }

  @Test func `a missing or malformed range is refused`() {
    #expect(category(head(nil)) == .rangeMismatch)
    #expect(category(head("bytes */100")) == .rangeMismatch)
    #expect(category(head("lines 10-19/100")) == .rangeMismatch)
  }

  @Test func `several ranges are refused, and the words say so`() {
    let several = head(nil, ["content-type": "Multipart/Byteranges; boundary=x"])
    let refusal = failure { () throws(FetchFailure) in
      try several.check(range: 10..<20, total: 100)
    }
    #expect(refusal?.category == .rangeMismatch)
    #expect(refusal?.message.contains("several ranges") == true)
  }

  @Test func `the whole file instead of a range is told apart`() {
    #expect(category(head(nil, length: "100", status: 200)) == .rangeIgnored)
    #expect(category(head(status: 200)) == .rangeIgnored)
  }

  @Test(arguments: [204, 302, 304, 403, 404, 416, 429, 500, 503])
  func `the body of any other status is never data`(_ status: Int) {
    let refusal = failure { () throws(FetchFailure) in
      try head(status: status).check(range: 10..<20, total: 100)
    }
    #expect(refusal?.category == .httpStatus)
    #expect(refusal?.httpStatus == status)
  }

  @Test func `an encoded range is refused`() {
    #expect(category(head(["content-encoding": "gzip"])) == .encodedBody)
  }

  @Test(arguments: ["9", "11", "0", "100", "", "x", "99999999999999999999"])
  func `a length that is not the range's is refused`(_ length: String) {
    #expect(category(head(length: length)) == .rangeMismatch)
  }
}
