import Failure
import TestSupport
import Testing

@testable import Transport

/// Which head is the one of a response.
@Suite struct HeadReaderTests {
  /// The final head of these lines, if they hold one.
  private func read(_ lines: String...) throws(FetchFailure) -> (ResponseHead?, HeadReader) {
    var reader = HeadReader()
    var final: ResponseHead?
    for line in lines {
      if let head = try reader.receive(line) {
        #expect(final == nil, "two final heads")
        final = head
      }
    }
    return (final, reader)
  }

  @Test(arguments: ["HTTP/1.1 206 Partial", "HTTP/2 206 "])
  func `a head is there at its empty line, and not before`(_ status: String) throws {
    #expect(try read(status, "ETag: x").0 == nil)
    let head = try read(status, "ETag: x", "").0
    #expect(head?.status == 206 && head?["etag"] == "x")
  }

  @Test func `interim heads are none, and leave no field behind`() throws {
    let head = try read(
      "HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", ""
    ).0
    #expect(head?.status == 200 && head?.fields == [:])
    #expect(try read("HTTP/1.1 100 Continue", "").0 == nil)
  }

  @Test func `a field that is named like a status line is none`() throws {
    let head = try read("HTTP/1.1 404 No", "HTTP/1: 206 X", "HTTP/1.1 206 X", "").0
    #expect(head?.status == 404 && head?["http/1"] == "206 X")
  }

  @Test func `trailers change nothing`() throws {
    let (head, reader) = try read(
      "HTTP/1.1 206 X", "", "HTTP/1.1 302 Found", "Location: /x", "ETag: x", "", "HTTP/1.1 200 OK",
      "")
    #expect(head?.status == 206 && reader.head?.status == 206)
    #expect(reader.head?.isRedirect == false && reader.head?.fields == [:])
  }

  @Test(arguments: ["", "ETag: x", "<html>", "ICY 200 OK"])
  func `what does not begin with a status line is no response`(_ line: String) {
    #expect(category { () throws(FetchFailure) in _ = try read(line) } == .truncated)
    #expect(
      category { () throws(FetchFailure) in _ = try read("HTTP/1.1 100 X", "", line) }
        == .truncated)
  }

  @Test(
    "whatever is repeated, there is one bound for all lines",
    arguments: [
      [], ["HTTP/1.1 404 No"], ["HTTP/1.1 404 No", "HTTP/1: 206 X"], ["HTTP/1.1 200 OK", ""],
    ])
  func bound(_ beginning: [String]) throws {
    var reader = HeadReader()
    for line in beginning { _ = try reader.receive(line) }
    let repeated =
      beginning.isEmpty ? ["HTTP/1.1 103 Early Hints", "Link: x", ""] : ["HTTP/1: 206 X"]
    var byteCount = 0
    let failure = failure { () throws(FetchFailure) in
      for _ in 0..<65_536 {
        for line in repeated {
          _ = try reader.receive(line)
          byteCount += line.utf8.count + 2
        }
      }
    }
    #expect(failure?.category == .tooLarge)
    #expect(byteCount <= ResponseHead.maximumByteCount)
  }
}
