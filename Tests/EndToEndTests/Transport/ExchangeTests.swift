import Failure
import System
import Testing
import Transport

/// What a failed exchange tells beside its category.
@Suite struct ExchangeTests {
  private static func origin(_ bend: @escaping Origin.Bend) throws -> (Origin, Scratch) {
    let scratch = try Scratch()
    try scratch.write("file", randomBytes(1_000))
    return (try Origin(scratch.path, bend: bend), scratch)
  }

  // MARK: Retry-After

  @Test(
    "what a source asks for is kept, clamped, and junk is no answer",
    arguments: [
      ("0", 0), ("1", 1), ("3155760000", 604_800), ("99999999999999999999", 604_800),
      ("Sun, 06 Nov 1994 08:50:07 GMT", 30), ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("soon", nil),
      ("-5", nil), (nil, nil),
    ] as [(String?, Double?)], [429, 503])
  func retryAfter(_ field: (String?, Double?), _ status: Int) throws {
    let (origin, scratch) = try Self.origin { _, response in
      response = OriginResponse(status, [])
      response["Retry-After"] = field.0
      response["Date"] = "Sun, 06 Nov 1994 08:49:37 GMT"
    }
    defer { withExtendedLifetime(scratch) {} }
    let failure = try #require(try Asker().failure(origin.base + "file"))
    #expect(failure.httpStatus == status && failure.exitCode == 3)
    #expect(failure.exchange.retryAfter == field.1)
  }

  @Test("what has nothing to do with a status has no such wait")
  func otherFailure() throws {
    let (origin, scratch) = try Self.origin { _, response in
      response["Retry-After"] = "60"
      (response.limit, response.ending) = (10, .close)
    }
    defer { withExtendedLifetime(scratch) {} }
    let failure = try #require(try Asker().failure(origin.base + "file"))
    #expect(failure.category == .truncated && failure.exchange.retryAfter == nil)
  }

  // MARK: Heads

  /// What comes of an answer that is sent as it is.
  private static func answer(_ raw: String) throws -> Asker.Answer? {
    let (origin, scratch) = try origin { _, response in
      (response.raw, response.ending) = (Array(raw.utf8), .close)
    }
    defer { withExtendedLifetime(scratch) {} }
    return try Asker().ask(origin.base + "file")
  }

  @Test("a header that is named like a status line changes no status")
  func falseStatus() throws {
    let failure = try Self.answer(
      "HTTP/1.1 404 No\r\nHTTP/1: 200 OK\r\nContent-Length: 2\r\n\r\nno"
    )?.failure
    #expect(failure?.httpStatus == 404)
  }

  @Test("a trailer makes no redirect of an answer that is there")
  func trailer() throws {
    let answer = try Self.answer(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
        + "HTTP/1: 302 Found\r\nLocation: ftp://127.0.0.1/\r\n\r\n")
    #expect(answer?.body == Array("ok".utf8), "\(String(describing: answer))")
  }

  @Test("interim answers come before an answer, and not without end")
  func interim() throws {
    let hint = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    let end = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    let few = "HTTP/1.1 100 Continue\r\n\r\n" + hint + end
    #expect(try Self.answer(few)?.body == Array("ok".utf8))
    let many = String(repeating: hint, count: 2_000) + end
    #expect(try Self.answer(many)?.failure?.category == .tooLarge)
  }

  // MARK: Connections

  @Test("a failure says whether the connection had served another request before")
  func reused() throws {
    let (origin, scratch) = try Self.origin { request, response in
      if request.path == "/cut" {
        response = OriginResponse(200, [UInt8](repeating: 0, count: 100))
        (response.limit, response.ending) = (10, .close)
      }
    }
    defer { withExtendedLifetime(scratch) {} }
    let asker = Asker()
    #expect(try asker.failure(origin.base + "cut")?.exchange.wasReused == false)
    #expect(try asker.ask(origin.base + "file")?.body != nil)
    let second = try #require(try asker.failure(origin.base + "cut"))
    #expect(second.exchange.wasReused && !second.exchange.wasUnprocessed)
    #expect(try asker.ask(origin.base + "file")?.body != nil)
    var fresh = Request(try WebURL(origin.base + "cut"))
    fresh.needsFreshConnection = true
    #expect(asker.failure(fresh)?.exchange.wasReused == false)
  }

  @Test("a kept connection that is gone is no failure")
  func gone() throws {
    let (origin, scratch) = try Self.origin { request, response in
      // Every connection ends at its second request, without a word.
      if request.path == "/again", request.connection == 0 {
        (response.raw, response.ending) = ([], .close)
      }
    }
    defer { withExtendedLifetime(scratch) {} }
    try scratch.write("again", randomBytes(10))
    let asker = Asker()
    #expect(try asker.ask(origin.base + "file")?.body != nil)
    #expect(try asker.ask(origin.base + "again")?.body?.count == 10)
    #expect(origin.entries(of: "/again").map(\.request.connection) == [0, 1])
  }

  @Test("a connection that was never used, and closes without a word, was not turned away")
  func silent() throws {
    let (origin, scratch) = try Self.origin { _, response in
      (response.raw, response.ending) = ([], .close)
    }
    defer { withExtendedLifetime(scratch) {} }
    let failure = try #require(try Asker().failure(origin.base + "file"))
    #expect(failure.category == .truncated)
    #expect(!failure.exchange.wasUnprocessed && !failure.exchange.wasReused)
  }

  // MARK: Whose fault

  @Test(
    "without a route or a resolver it is this machine that reaches nothing",
    .enabled(if: Isolation.isPossible, "needs a network namespace"),
    arguments: ["http://192.0.2.1/file", "http://[2001:db8::1]/file", "http://name.example/file"])
  func cutOff(_ url: String) throws {
    let failure = Isolation.run { (try? Asker().failure(url)) ?? nil } ?? nil
    #expect(failure?.category == .unreachable)
    #expect(failure?.exchange.isLocal == true, "\(String(describing: failure))")
  }

  @Test("a server that refuses connections is at fault itself")
  func refused() throws {
    let (origin, scratch) = try Self.origin { _, _ in }
    defer { withExtendedLifetime(scratch) {} }
    origin.stop()
    let failure = try #require(try Asker().failure(origin.base + "file"))
    #expect(failure.category == .unreachable && !failure.exchange.isLocal)
  }

  @Test("who is cut off can end at once")
  func cancelled() throws {
    guard Isolation.isPossible else { return }
    let ended = Isolation.run { () -> Bool in
      let asker = Asker()
      guard let url = try? WebURL("http://name.example/file") else { return false }
      let isOver = Monitor(false)
      _ = asker.transport.start(
        Request(url), SmallReceiver(limit: 10) { _ in isOver.change { $0 = true } })
      asker.transport.stop()
      return isOver.look { $0 }
    }
    #expect(ended == true)
  }

  @Test("a transport that has stopped answers, and that is all")
  func stopped() throws {
    let asker = Asker()
    asker.transport.stop()
    #expect(try asker.failure("http://127.0.0.1/file")?.category == .interrupted)
    asker.transport.resumePaused()
  }
}
