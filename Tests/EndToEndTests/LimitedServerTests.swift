import System
import Testing

/// Servers that are right and hold back: nginx, as its operators set it up.
@Suite(.enabled(if: Nginx.here != nil, Nginx.need)) struct LimitedServerTests {
  private func pull(
    _ url: String, _ bytes: Int, _ more: [String]
  ) throws -> (Outcome, Workbench, Release) {
    let nginx = try #require(Nginx.here)
    let bench = try Workbench(.nginx)
    let release = try bench.site.publish(randomBytes(bytes))
    let name = try #require((bench.server as? Nginx.Running)?.name)
    let outcome = try bench.fetchres.run(
      [
        "pull", "\(url)/\(name)/manifest", "--key", bench.site.key, "-d", bench.directory,
        "--cacert", nginx.certificates, "--json",
      ] + more)
    return (outcome, bench, release)
  }

  @Test(
    "a server with nothing but HTTP/2 that ends a connection after three requests, or takes one stream at a time, gives everything",
    arguments: [true, false])
  func http2Only(_ isShort: Bool) throws {
    let nginx = try #require(Nginx.here)
    let url = isShort ? nginx.http2ShortURL : nginx.http2NarrowURL
    let (outcome, bench, release) = try pull(url, 8_000_001, ["--connections", "20"])
    outcome.expect(0)
    try bench.expectComplete(release)
    let name = try #require((bench.server as? Nginx.Running)?.name)
    let visits = try nginx.visits("/\(name)\(release.dataPath)")
    // Asked once for all over HTTP/1.1, in as many requests as there were under way.
    #expect(visits.count { $0.version == "HTTP/1.1" } <= 20)
    #expect(visits.contains { $0.version == "HTTP/2.0" })
  }

  @Test(
    "a server that answers what is too much with a status gives everything", arguments: [429, 503])
  func busy(_ status: Int) throws {
    let url = try #require(Nginx.here?.busyURLs[status])
    let (outcome, bench, release) = try pull(url, 6_000_001, ["--connections", "8"])
    outcome.expect(0)
    try bench.expectComplete(release)
  }
}
