import System
import Testing

/// With a proxy chosen, nothing is asked around it: seen from outside, by the system calls.
@Suite struct FailClosedTests {
  private static func pull(
    _ bench: Workbench, from base: String? = nil, _ more: [String], proxy: String,
    onStart: (Child) throws -> Void = { _ in }
  ) throws -> ConnectTrace {
    var arguments = bench.pulling(["--json", "--proxy", proxy] + more)
    if let base { arguments[1] = base + "manifest" }
    return try ConnectTrace(bench, arguments, to: [proxy], onStart: onStart)
  }

  @Test(
    "a proxy that is not there is asked, and nobody else",
    .enabled(if: ConnectTrace.isPossible, ConnectTrace.need),
    arguments: ["http", "https", "socks5h"])
  func dead(_ scheme: String) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let proxy = "\(scheme)://127.0.0.1:\(try ProxyProcess.freePort())"
    for base in [
      bench.server.base, "http://no-such-host.invalid/", "https://no-such-host.invalid/",
    ] {
      let traced = try Self.pull(bench, from: base, ["--give-up-after", "1"], proxy: proxy)
      traced.expectTight()
      try traced.outcome.expectFailure("proxy-unreachable", 3)
    }
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test(
    "through a proxy goes all: manifest, log, tiles, data, redirects, and mirrors that do not exist",
    .enabled(if: ConnectTrace.isPossible, ConnectTrace.need), arguments: ProxyProcess.Kind.allCases)
  func working(_ kind: ProxyProcess.Kind) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(40 * Site.blockSize))
    let second = try Origin(bench.site.path)
    // To a name, which the proxy resolves.
    let place = second.base.dropLast().replacing("127.0.0.1", with: "localhost")
    try bench.origin().bend { request, response in
      guard request.path.hasPrefix("/releases") else { return }
      response = OriginResponse(302, [])
      response["Location"] = place + request.path
    }
    let proxy = try ProxyProcess(kind)
    let traced = try Self.pull(
      bench, ["--mirror", "http://no-such-mirror.invalid/thing/"], proxy: proxy.url)
    traced.expectTight()
    traced.outcome.expect(0)
    try bench.expectComplete(release)
    #expect(second.bytes(of: release.dataPath) >= Int64(release.bytes.count))
  }

  @Test(
    "a proxy that dies in the middle ends the run, and the rest comes through the next one",
    .enabled(if: ConnectTrace.isPossible, ConnectTrace.need))
  func dying() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let proxy = try ProxyProcess(.microsocks)
    try bench.origin().bendData(of: release) { _, response in
      response.limit = min(response.body.count, Int64(10 * Site.blockSize))
      if response.body.count > 10 * Site.blockSize { response.ending = .hold }
    }
    let traced = try Self.pull(bench, ["--give-up-after", "3"], proxy: proxy.url) { _ in
      let isHeld = try bench.origin().waitForHeld(1)
      #expect(isHeld)
      proxy.end()
    }
    traced.expectTight()
    try traced.outcome.expectFailure("proxy-unreachable", 3)
    try bench.expectUnfinished(release)
    try bench.origin().bend(nil)
    let next = try ProxyProcess(.tinyproxy)
    let rest = try Self.pull(bench, [], proxy: next.url)
    rest.expectTight()
    rest.outcome.expect(0)
    try bench.expectComplete(release)
  }

  enum Fault: String, Sendable, CaseIterable {
    case missing, busy, cut, reset, lie, garbage, redirectAway, loop

    func bend(_ response: inout OriginResponse, _ request: OriginRequest) {
      switch self {
      case .missing: response = OriginResponse(404, [])
      case .busy: response = OriginResponse(503, [])
      case .cut: (response.limit, response.ending) = (100, .close)
      case .reset: (response.limit, response.ending) = (100, .reset)
      case .lie: response.replaceBody([UInt8](repeating: 0, count: Int(response.body.count)))
      case .garbage: (response.raw, response.ending) = (Array("garbage\r\n\r\n".utf8), .close)
      case .redirectAway:
        response = OriginResponse(302, [])
        response["Location"] = "http://no-such-host.invalid\(request.path)"
      case .loop:
        response = OriginResponse(302, [])
        response["Location"] = request.path + "x"
      }
    }
  }

  @Test(
    "whatever goes wrong behind the proxy, nothing is asked around it",
    .enabled(if: ConnectTrace.isPossible, ConnectTrace.need), arguments: Fault.allCases,
    ["/manifest", "/releases"])
  func faults(_ fault: Fault, _ place: String) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(20 * Site.blockSize))
    try bench.origin().bend { request, response in
      if request.path.hasPrefix(place) { fault.bend(&response, request) }
    }
    let proxy = try ProxyProcess(.microsocks)
    let traced = try Self.pull(bench, ["--give-up-after", "1"], proxy: proxy.url)
    traced.expectTight()
    #expect([3, 4].contains(traced.outcome.exitCode), "\(traced.outcome)")
  }
}
