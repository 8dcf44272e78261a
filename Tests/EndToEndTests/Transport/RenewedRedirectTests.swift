import Failure
import System
import Testing
import Transport

/// Redirects that are good for a while: requests for data go to the target at once, until it says that
/// it is over.
@Suite struct RenewedRedirectTests {
  /// An origin that sends everyone to a second server, with a signature that changes.
  private final class Signed: Sendable {
    let scratch: Scratch
    let origin: Origin
    let target: Origin
    private let signature = Monitor(1)

    /// - Parameter refusal: the answer to an old signature.
    init(refusal: Int = 403) throws {
      scratch = try Scratch()
      try scratch.write("file", randomBytes(100_000))
      let signature = signature
      let target = try Origin(scratch.path) { request, response in
        if request.target != "\(request.path)?signature=\(signature.look { $0 })" {
          response = OriginResponse(refusal, Array("over\n".utf8))
        }
      }
      self.target = target
      origin = try Origin(scratch.path) { request, response in
        response = OriginResponse(302, Array("elsewhere\n".utf8))
        response["Location"] =
          "\(target.base.dropLast())\(request.path)?signature=\(signature.look { $0 })"
      }
    }

    /// What was given out is good no more.
    func expire() { signature.change { $0 += 1 } }

    func request(_ start: Int64 = 0, isBulk: Bool = true) throws -> Request {
      var request = Request(try WebURL(origin.base + "file"))
      request.range = start..<start + 1_000
      request.isBulk = isBulk
      return request
    }
  }

  /// The size of the file is part of what is checked.
  private func ask(_ asker: Asker, _ requests: [Request]) -> [FetchFailure?] {
    asker.ask(requests, total: 100_000).map { answer in
      guard let answer else { return FetchFailure(.timeout, "no answer") }
      return answer.failure
    }
  }

  @Test("the origin is asked once, and then its target")
  func remembered() throws {
    let signed = try Signed()
    let asker = Asker()
    for start in 0..<5 {
      #expect(ask(asker, [try signed.request(Int64(start) * 1_000)]) == [nil])
    }
    #expect(signed.origin.entries.count == 1 && signed.target.entries.count == 5)
  }

  @Test("small files ask the origin each time")
  func small() throws {
    let signed = try Signed()
    let asker = Asker()
    for _ in 0..<3 { #expect(ask(asker, [try signed.request(isBulk: false)]) == [nil]) }
    #expect(signed.origin.entries.count == 3)
  }

  @Test(
    "when the target says that it is over, the origin is asked again once for all",
    arguments: [400, 401, 403, 404, 410])
  func renewed(_ status: Int) throws {
    let signed = try Signed(refusal: status)
    let asker = Asker()
    #expect(ask(asker, [try signed.request()]) == [nil])
    for round in 2...4 {
      signed.expire()
      let requests = try (0..<8).map { try signed.request($0 * 1_000) }
      #expect(ask(asker, requests) == [FetchFailure?](repeating: nil, count: 8))
      #expect(signed.origin.entries.count == round)
    }
  }

  @Test("a long body of the refusal is not waited for")
  func longRefusal() throws {
    let signed = try Signed()
    let asker = Asker()
    #expect(ask(asker, [try signed.request()]) == [nil])
    let target = signed.target
    let isFirst = Monitor(true)
    target.bend { request, response in
      let first = isFirst.change { first in
        defer { first = false }
        return first
      }
      if first {
        response = OriginResponse(403, [UInt8](repeating: 0x20, count: 1 << 20))
        (response.limit, response.ending) = (100_000, .hold)
      }
    }
    #expect(ask(asker, [try signed.request()]) == [nil])
    #expect(signed.origin.entries.count == 2)
  }

  @Test("a target that refuses what it was just given for is at fault")
  func refusedAtOnce() throws {
    let signed = try Signed()
    let asker = Asker()
    #expect(ask(asker, [try signed.request()]) == [nil])
    signed.target.bend { _, response in response = OriginResponse(403, []) }
    for _ in 0..<2 {
      let failure = try #require(ask(asker, [try signed.request()])[0])
      #expect(failure.category == .httpStatus && failure.httpStatus == 403)
      #expect(failure.exchange.wasRedirected)
      #expect(failure.source == signed.origin.base + "file")
      #expect(failure.message.contains("127.0.0.1") && !failure.message.contains("signature"))
    }
    #expect(signed.origin.entries.count == 3)
  }

  @Test("if the target refuses all, whoever waited for the origin hears so too")
  func refusedForAll() throws {
    let signed = try Signed()
    let asker = Asker()
    #expect(ask(asker, [try signed.request()]) == [nil])
    signed.target.bend { _, response in response = OriginResponse(403, []) }
    let requests = try (0..<8).map { try signed.request($0 * 1_000) }
    for failure in ask(asker, requests) { #expect(failure?.exchange.wasRedirected == true) }
    #expect(signed.origin.entries.count <= 9)
  }

  @Test("what the origin itself refuses is refused")
  func originRefuses() throws {
    let signed = try Signed()
    let asker = Asker()
    #expect(ask(asker, [try signed.request()]) == [nil])
    signed.expire()
    signed.origin.bend { _, response in response = OriginResponse(403, []) }
    for failure in ask(asker, try (0..<4).map { try signed.request($0 * 1_000) }) {
      #expect(failure?.httpStatus == 403 && failure?.exchange.wasRedirected == false)
    }
  }

  @Test("a target that fails in another way is not asked the next time")
  func otherFault() throws {
    let signed = try Signed()
    let asker = Asker()
    #expect(ask(asker, [try signed.request()]) == [nil])
    signed.target.bend { _, response in response = OriginResponse(503, []) }
    let failure = try #require(ask(asker, [try signed.request()])[0])
    #expect(failure.httpStatus == 503 && failure.exchange.wasRedirected)
    #expect(signed.origin.entries.count == 1)
    signed.target.bend(nil)
    #expect(ask(asker, [try signed.request()]) == [nil])
    #expect(signed.origin.entries.count == 2)
  }

  @Test("who wants a fresh connection asks the origin")
  func fresh() throws {
    let signed = try Signed()
    let asker = Asker()
    #expect(ask(asker, [try signed.request()]) == [nil])
    var request = try signed.request()
    request.needsFreshConnection = true
    #expect(ask(asker, [request]) == [nil])
    #expect(signed.origin.entries.count == 2)
  }

  @Test("headers, password and query of the origin never reach the target, asked for or remembered")
  func credentials() throws {
    let signed = try Signed()
    let base = signed.origin.base.replacing("http://", with: "http://user:passw0rd@")
    let url = try WebURL("\(base)file?token=t0ken")
    let asker = Asker { policy in
      policy.headers = ["X-Secret: s3cret", "Cookie: c00kie", "Authorization: Bearer b3arer"]
      policy.credentialsOrigin = url
    }
    for _ in 0..<2 {
      var request = try signed.request()
      request.url = url
      #expect(ask(asker, [request]) == [nil])
      signed.expire()
    }
    #expect(signed.target.entries.count == 3 && signed.origin.entries.count == 2)
    for request in signed.origin.entries.map(\.request) {
      #expect(request.fields["x-secret"] == "s3cret" && request.target.hasSuffix("?token=t0ken"))
    }
    for request in signed.target.entries.map(\.request) {
      let all = "\(request.fields) \(request.target)"
      for secret in ["s3cret", "c00kie", "b3arer", "passw0rd", "t0ken"] {
        #expect(!all.contains(secret), "\(all)")
      }
      #expect(request.fields["authorization"] == nil && request.fields["cookie"] == nil)
    }
  }

  @Test("a redirect within the origin keeps the password, also where it names the host")
  func sameOrigin() throws {
    let scratch = try Scratch()
    try scratch.write("file", randomBytes(10))
    let origin = try Origin(scratch.path)
    let place = origin.base.dropLast()
    origin.bend { request, response in
      guard request.path != "/file" else { return }
      response = OriginResponse(302, [])
      response["Location"] = request.path == "/relative" ? "/file" : place + "/file"
    }
    let base = origin.base.replacing("http://", with: "http://user:passw0rd@")
    for name in ["relative", "absolute"] {
      #expect(try Asker().ask(base + name)?.body?.count == 10)
    }
    let last = origin.entries(of: "/file").map(\.request)
    #expect(last.count == 2)
    // `user:passw0rd` in base64.
    #expect(last.allSatisfy { $0.fields["authorization"] == "Basic dXNlcjpwYXNzdzByZA==" })
  }

  @Test("a password that a target comes with is not sent")
  func foreignPassword() throws {
    let signed = try Signed()
    let place = signed.target.base.replacing("http://", with: "http://some:one@")
    signed.origin.bend { _, response in
      response = OriginResponse(302, [])
      response["Location"] = place + "file?signature=1"
    }
    #expect(ask(Asker(), [try signed.request()]) == [nil])
    #expect(signed.target.entries.count == 1)
    #expect(signed.target.entries[0].request.fields["authorization"] == nil)
  }

  @Test("a pull from a server whose redirects are soon over goes through without a failure")
  func pull() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(200 * Site.blockSize))
    // Every signature is good for two requests.
    let uses = Monitor((signature: 1, left: 2))
    let target = try Origin(bench.site.path) { request, response in
      let isGood = uses.change { uses in
        guard request.target.hasSuffix("?signature=\(uses.signature)"), uses.left > 0 else {
          return false
        }
        uses.left -= 1
        return true
      }
      if !isGood { response = OriginResponse(403, []) }
    }
    let place = target.base.dropLast()
    try bench.origin().bendData(of: release) { request, response in
      let signature = uses.change { uses in
        if uses.left == 0 { uses = (uses.signature + 1, 2) }
        return uses.signature
      }
      response = OriginResponse(302, [])
      response["Location"] = "\(place)\(request.path)?signature=\(signature)"
    }
    let outcome = try bench.pull("--json", "--connections", "1")
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(try outcome.events("source-failed").isEmpty, "\(outcome.testDescription)")
    let asked = try #require(try bench.origin().count(of: release.dataPath))
    #expect(asked >= 2 && asked < target.entries.count, "\(asked) of \(target.entries.count)")
  }
}
