import System
import Testing

/// Mirrors that a user keeps by hand.
@Suite struct MirrorListTests {
  private static let origin = "example.org/thing"

  private func mirror(_ bench: Workbench, _ words: String...) throws -> Outcome {
    try bench.fetchres.run(["mirror"] + words)
  }

  @Test("mirrors are kept as they are meant, listed in order, and taken away")
  func list() throws {
    let bench = try Workbench()
    try mirror(bench, "list", Self.origin).expect(0)
    let first = try mirror(bench, "add", Self.origin, "HTTPS://A.Example:443/x")
    first.expect(0)
    #expect(first.output == "https://a.example/x/\n")
    let second = try mirror(bench, "add", Self.origin, "http://b.example:80")
    second.expect(0)
    #expect(second.output == "http://b.example/\n")
    #expect(second.error.contains("plain http"))
    #expect(!first.error.contains("plain http"))
    for again in ["https://a.example/x/", "https://a.example/x", "https://a.example:443/x/"] {
      try mirror(bench, "add", Self.origin, again).expectRefusal(2, "already")
    }
    #expect(
      try mirror(bench, "list", Self.origin).output == "https://a.example/x/\nhttp://b.example/\n")
    #expect(try mirror(bench, "list", "example.org/other").output.isEmpty)
    try mirror(bench, "remove", Self.origin, "https://a.example/x").expect(0)
    try mirror(bench, "remove", Self.origin, "https://a.example/x").expectRefusal(2)
    #expect(try mirror(bench, "list", Self.origin).output == "http://b.example/\n")
  }

  @Test("there are eight at most, and only what is a base URL")
  func refused() throws {
    let bench = try Workbench()
    for index in 0..<8 {
      try mirror(bench, "add", Self.origin, "https://m\(index).example/").expect(0)
    }
    try mirror(bench, "add", Self.origin, "https://m8.example/").expectRefusal(2, "8 mirrors")
    for wrong in ["ftp://a.example/", "https://u:p@a.example/", "https://a.example/?x", "a"] {
      try mirror(bench, "add", "example.org/other", wrong).expectRefusal(2)
    }
    try mirror(bench, "add", "no origin!", "https://a.example/").expectRefusal(2, "no origin")
    try mirror(bench, "shuffle", Self.origin).expectRefusal(2)
  }

  @Test("a pull uses them, and a base that is gone does not matter")
  func used() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(20 * Site.blockSize))
    let mirror = try Origin(bench.site.path)
    try self.mirror(bench, "add", Self.origin, mirror.base).expect(0)
    try bench.origin().stop()
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  @Test("a pull that runs leaves a mirror that was taken away, and goes on with one that was added")
  func changed() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(60 * Site.blockSize))
    // The base has no data; the first mirror sends so little that it would take minutes.
    try bench.origin().bendData(of: release) { _, response in response = OriginResponse(503, []) }
    let (slow, fast) = (try Origin(bench.site.path), try Origin(bench.site.path))
    slow.bendData(of: release) { _, response in response.pace = (bytes: 2_048, seconds: 0.1) }
    try mirror(bench, "add", Self.origin, slow.base).expect(0)
    let child = try bench.fetchres.start(bench.pulling(["--json"]))
    #expect(slow.wait { $0.bodyBytes > 100_000 })
    try mirror(bench, "add", Self.origin, fast.base).expect(0)
    try mirror(bench, "remove", Self.origin, slow.base).expect(0)
    #expect(fast.wait { $0.entries.contains { $0.request.path == release.dataPath } })
    let outcome = try Outcome(of: child)
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(try outcome.events("source").map(\.url).contains(fast.base))
  }
}
