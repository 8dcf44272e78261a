import System
import Testing

/// Several sources, good and bad, of one resource.
@Suite struct MirrorTests {
  private static let blocks = 160

  private enum Conduct: CaseIterable {
    case lies, stalls, truncates, busy, alternates, shifts, closesEverySecond
  }

  /// Bends the answers to requests for data.
  private func bend(_ origin: Origin, _ release: Release, _ conduct: Conduct) {
    let count = Monitor(0)
    origin.bendData(of: release) { _, response in
      let number = count.change { count in
        count += 1
        return count
      }
      switch conduct {
      case .lies: response.bytes = response.bytes.map { $0 ^ 0x55 }
      case .stalls: (response.limit, response.ending) = (0, .hold)
      case .truncates: (response.limit, response.ending) = (response.body.count / 2, .close)
      case .busy: response = OriginResponse(503, [])
      case .alternates: if number % 2 == 1 { response.bytes = response.bytes.map { $0 ^ 1 } }
      case .shifts:
        let bytes = response.bytes
        response.bytes = Array(bytes.dropFirst(4) + bytes.prefix(4))
      case .closesEverySecond:
        if number % 2 == 0 { (response.raw, response.ending) = ([], .close) }
      }
    }
  }

  private func mirrors(_ origins: [Origin]) -> [String] {
    origins.flatMap { ["--mirror", $0.base] }
  }

  @Test(
    "seven sources that are each bad in another way and one that is good: all is right in the end")
  func sevenBad() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(Self.blocks * Site.blockSize - 5))
    let base = try bench.origin()
    var others: [Origin] = []
    for conduct in Conduct.allCases.dropFirst() {
      let origin = try Origin(bench.site.path)
      bend(origin, release, conduct)
      others.append(origin)
    }
    bend(base, release, .lies)
    let good = try Origin(bench.site.path)
    let outcome = try bench.fetchres.run(
      bench.pulling(mirrors(others + [good]) + ["--json", "--stall", "1K/2s"]))
    outcome.expect(0)
    try bench.expectComplete(release)
    let sent = ([base] + others + [good]).reduce(0) { $0 + $1.bytes(of: release.dataPath) }
    #expect(sent <= 3 * Int64(release.bytes.count))
    let sources = try outcome.events("source")
    #expect(sources.map(\.url) == ([base] + others + [good]).map(\.base))
    #expect(sources.reduce(0) { $0 + ($1.bytes ?? 0) } == Int64(release.bytes.count))
    for (source, conduct) in zip(sources, Conduct.allCases) {
      let categories = source.refusals?.map(\.category) ?? []
      switch conduct {
      case .lies, .shifts: #expect(categories == ["block-mismatch"], "\(conduct)")
      case .alternates: #expect(Set(categories).isSubset(of: ["block-mismatch"]), "\(conduct)")
      case .stalls: #expect(Set(categories).isSubset(of: ["stalled", "timeout"]), "\(conduct)")
      case .busy: #expect(Set(categories).isSubset(of: ["http-status"]), "\(conduct)")
      case .truncates, .closesEverySecond:
        #expect(Set(categories).isSubset(of: ["truncated", "unreachable"]), "\(conduct)")
      }
    }
    #expect(sources.last?.refusals?.isEmpty == true)
  }

  @Test("a source whose name leads nowhere, one that refuses and one without the file cost nothing")
  func deadMirrors() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(50 * Site.blockSize))
    let dead = try Origin(bench.site.path)
    dead.stop()
    let empty = try Origin(try Scratch().path)
    let outcome = try bench.fetchres.run(
      bench.pulling(mirrors([dead, empty]) + ["--mirror", "http://nowhere.invalid/", "--json"]))
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(try outcome.events("source").first?.bytes == Int64(release.bytes.count))
  }

  @Test("without the base, everything comes from a mirror")
  func deadBase() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(50 * Site.blockSize))
    let mirror = try Origin(bench.site.path)
    try bench.origin().stop()
    try bench.fetchres.run(bench.pulling(mirrors([mirror]))).expect(0)
    try bench.expectComplete(release)
  }

  @Test("a base that gives anything but the manifest does not stop a good mirror")
  func hostileBase() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(50 * Site.blockSize))
    let mirror = try Origin(bench.site.path)
    try bench.origin().bend { _, response in response = OriginResponse(200, Array("hello".utf8)) }
    let outcome = try bench.fetchres.run(bench.pulling(mirrors([mirror]) + ["--json"]))
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(try !outcome.events("source-failed").isEmpty)
  }

  @Test("the mirrors that a manifest named are remembered when the base is gone")
  func signedMirror() throws {
    let bench = try Workbench()
    let mirror = try Origin(bench.site.path)
    try bench.site.publish(randomBytes(5 * Site.blockSize), ["--mirror", mirror.base])
    try bench.pull().expect(0)
    let second = try bench.site.publish(
      randomBytes(9 * Site.blockSize), version: "v2", ["--mirror", mirror.base])
    try bench.origin().stop()
    try bench.pull().expect(0)
    try bench.expectComplete(second)
    #expect(mirror.bytes(of: second.dataPath) == Int64(second.bytes.count))
  }

  @Test("query, user name and header lines of the base go to no mirror")
  func secretsStay() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let mirror = try Origin(bench.site.path)
    // So that it is asked for everything.
    try bench.origin().bend { request, response in
      if request.path != "/manifest" { response = OriginResponse(503, []) }
    }
    let base = bench.server.base.replacing("http://", with: "http://user:passw0rd@")
    try bench.fetchres.run([
      "pull", "\(base)manifest?token=s3cret", "--key", bench.site.key, "-d", bench.directory,
      "--header", "Authorization: Bearer b3arer", "--mirror", mirror.base,
    ]).expect(0)
    try bench.expectComplete(release)
    #expect(!mirror.entries.isEmpty)
    for entry in mirror.entries {
      #expect(entry.request.target == entry.request.path)
      #expect(entry.request.fields["authorization"] == nil)
    }
  }

  @Test(
    "what is no base URL of a mirror is refused",
    arguments: [
      "ftp://a.example/", "https://a.example/x?y=1", "https://u:p@a.example/", "nonsense",
    ])
  func refused(_ mirror: String) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1))
    try bench.pull("--mirror", mirror).expectRefusal(2)
  }
}
