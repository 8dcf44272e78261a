import System
import Testing

/// Redirects, and what must not follow them.
@Suite struct RedirectTests {
  /// A bench whose server redirects everything, or the paths below one, to a second server.
  static func redirected(
    _ prefix: String, status: Int = 302
  ) throws -> (Workbench, Release, Origin) {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    let second = try Origin(bench.site.path)
    let base = second.base.dropLast()
    try bench.origin().bend { request, response in
      guard request.path.hasPrefix(prefix) else { return }
      response = OriginResponse(status, [])
      response["Location"] = base + String(request.target.prefix { $0 != "?" })
    }
    return (bench, release, second)
  }

  // covers: F20
  @Test("a redirect to another host is followed", arguments: [301, 302, 303, 307, 308])
  func followed(_ status: Int) throws {
    let (bench, release, second) = try Self.redirected("/", status: status)
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(second.count(of: "/manifest") == 1)
    #expect(second.bytes(of: release.dataPath) == Int64(release.bytes.count))
    // The base stays what the user gave.
    #expect(try #require(bench.origin().count(of: release.dataPath)) > 0)
  }

  // covers: F20
  @Test("headers, passwords and queries of the user stay with the server that they were given for")
  func secretsStay() throws {
    let (bench, release, second) = try Self.redirected("/releases")
    let base = bench.server.base.replacing("http://", with: "http://user:passw0rd@")
    let outcome = try bench.fetchres.run([
      "pull", "\(base)manifest?token=t0ken", "--key", bench.site.key, "-d", bench.directory,
      "--header", "X-Secret: s3cret", "--header", "Authorization: Bearer b3arer",
    ])
    outcome.expect(0)
    try bench.expectComplete(release)
    let first = try bench.origin().entries.map(\.request)
    #expect(first.allSatisfy { $0.fields["x-secret"] == "s3cret" })
    #expect(first.allSatisfy { $0.fields["authorization"] != nil })
    #expect(first.allSatisfy { $0.target.hasSuffix("?token=t0ken") })
    #expect(!second.entries.isEmpty)
    for request in second.entries.map(\.request) {
      #expect(request.fields["x-secret"] == nil && request.fields["authorization"] == nil)
      #expect(!request.target.contains("?"))
      #expect(!request.fields.values.contains { $0.contains("s3cret") || $0.contains("passw0rd") })
    }
  }

  @Test("a redirect within the server keeps them")
  func sameOrigin() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    let base = bench.server.base.dropLast()
    try bench.origin().bend { request, response in
      guard !request.target.hasSuffix("?again") else { return }
      response = OriginResponse(307, [])
      response["Location"] = base + request.target + "?again"
    }
    try bench.pull("--header", "X-Secret: s3cret").expect(0)
    try bench.expectComplete(release)
    let requests = try bench.origin().entries.map(\.request)
    #expect(requests.allSatisfy { $0.fields["x-secret"] == "s3cret" })
  }

  // covers: F20
  @Test(
    "a redirect that leads nowhere or round in a circle is refused",
    arguments: [
      "ftp://127.0.0.1/manifest", "file:///etc/passwd", "gopher://127.0.0.1/",
      "javascript:alert(1)",
      "http://", "/manifest", "http://[::1", "data:text/plain,manifest",
    ])
  func refused(_ target: String) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    try bench.origin().bend { _, response in
      response = OriginResponse(302, [])
      response["Location"] = target
    }
    let outcome = try bench.pull("--json", "--give-up-after", "4")
    outcome.expect(4)
    #expect(try ["redirect-refused", "http-status"].contains(outcome.last().category))
    #expect(try bench.origin().entries.count <= 60)
    #expect(!Disk.exists(bench.directory))
  }

  @Test("data that are redirected round in a circle are refused within bounds")
  func loop() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(1_000))
    let path = release.dataPath
    try bench.origin().bend { request, response in
      guard request.path.hasPrefix(path) else { return }
      response = OriginResponse(302, [])
      response["Location"] = request.path + "x"
    }
    let outcome = try bench.pull("--json", "--give-up-after", "4")
    try outcome.expectFailure("redirect-refused", 4, "more than 10 times")
    #expect(try bench.origin().entries.count <= 70)
    try bench.expectUnfinished(release)
  }

  @Test("a redirect without a place to go is a status like any other")
  func noPlace() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    try bench.origin().bend { _, response in response = OriginResponse(302, []) }
    try bench.pull("--json").expectFailure("http-status", 4, "HTTP 302")
  }

  // covers: F20
  @Test("https never leads to http", .enabled(if: Nginx.here != nil, Nginx.need))
  func downgrade() throws {
    let nginx = try #require(Nginx.here)
    let bench = try Workbench(.nginxTLS)
    try bench.site.publish(randomBytes(1_000))
    let name = try #require((bench.server as? Nginx.Running)?.name)
    let outcome = try bench.fetchres.run([
      "pull", "\(nginx.tlsURL)/downgrade/\(name)/manifest", "--key", bench.site.key, "-d",
      bench.directory, "--json", "--cacert", nginx.certificates,
    ])
    try outcome.expectFailure("redirect-refused", 4, "from https to http")
    #expect(try bench.server.count(of: "/manifest") == 0)
  }
}
