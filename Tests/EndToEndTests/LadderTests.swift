import System
import Testing

/// Waits that outlive the program.
@Suite struct LadderTests {
  /// The one record of that kind in the state.
  private func record(_ bench: Workbench, _ kind: String) throws -> [UInt8]? {
    let directory = "\(bench.fetchres.home)/state/fetchres/sources"
    guard Disk.exists(directory) else { return nil }
    let names = Disk.names(in: directory).filter { $0.hasSuffix(kind) }
    #expect(names.count <= 1)
    return try names.first.map { try Disk.read("\(directory)/\($0)") }
  }

  private func failures(_ bench: Workbench) throws -> Int? {
    try record(bench, ".ladder").map {
      Int($0[1]) << 24 | Int($0[2]) << 16 | Int($0[3]) << 8 | Int($0[4])
    }
  }

  @Test("runs against a server that is gone climb one ladder, and success takes it away")
  func climbing() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(3 * Site.blockSize))
    let origin = try bench.origin()
    origin.bend { _, response in response = OriginResponse(503, []) }
    // None, none, five seconds: the third failure is one wait too many.
    try bench.pull("--json", "--give-up-after", "2").expectFailure("http-status", 3)
    #expect(try record(bench, ".ladder")?.count == 29)
    #expect(try record(bench, ".ladder")?.first == 2)
    #expect(try failures(bench) == 3)
    // The next run does not even ask, and says how long it would have to wait.
    origin.forget()
    let second = try bench.pull("--give-up-after", "2")
    second.expect(3)
    #expect(second.error.contains("--retry-now"), "\(second.error)")
    #expect(origin.entries.isEmpty)
    #expect(try failures(bench) == 3)
    // Asked to, it tries once.
    try bench.pull("--retry-now", "--give-up-after", "2").expect(3)
    #expect(try failures(bench) == 4)
    origin.bend(nil)
    try bench.pull("--retry-now").expect(0)
    try bench.expectComplete(release)
    #expect(try record(bench, ".ladder") == nil)
  }

  @Test("a release that is complete and vouched for takes the ladder away as well")
  func climbingWithNothingToFetch() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(3 * Site.blockSize))
    try bench.pull().expect(0)
    for _ in 1...3 {
      try bench.origin().bend { _, response in response = OriginResponse(502, []) }
      try bench.pull("--give-up-after", "2").expect(3)
      #expect(try failures(bench) == 3)
      try bench.origin().bend(nil)
      try bench.pull("--retry-now").expect(0)
      #expect(try record(bench, ".ladder") == nil)
    }
  }

  @Test("a record that is none, or of another version, is none")
  func foreignRecords() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(3 * Site.blockSize))
    try bench.origin().bend { _, response in response = OriginResponse(503, []) }
    try bench.pull("--give-up-after", "2").expect(3)
    let directory = "\(bench.fetchres.home)/state/fetchres/sources"
    let name = try #require(Disk.names(in: directory).first)
    try bench.origin().bend(nil)
    for bytes in [[], [UInt8](repeating: 1, count: 29), [UInt8](repeating: 2, count: 30)] {
      try Disk.write("\(directory)/\(name)", bytes)
      try bench.pull("--give-up-after", "2").expect(0)
    }
  }

  @Test("a source that gave wrong bytes twice is left alone for a day, unless it is alone")
  func held() throws {
    let bench = try Workbench()
    // So large that it cannot all be under way before the first lie is known.
    let release = try bench.site.publish(randomBytes(800 * Site.blockSize))
    let liar = try bench.origin()
    liar.bendData(of: release) { _, response in response.bytes = response.bytes.map { $0 ^ 1 } }
    let alone = try bench.pull("--json")
    try alone.expectFailure("block-mismatch", 4)
    try bench.expectUnfinished(release)
    #expect(try record(bench, ".hold") == nil)
    // So busy at first that the other one is asked again.
    let (honest, refused) = (try Origin(bench.site.path), Monitor(0))
    honest.bendData(of: release) { _, response in
      let isFirst = refused.change { count in
        count += 1
        return count <= 3
      }
      if isFirst { response = OriginResponse(503, []) }
    }
    let pulled = try bench.pull("--mirror", honest.base, "--json", "--connections", "1")
    pulled.expect(0)
    try bench.expectComplete(release)
    #expect(try record(bench, ".hold")?.count == 25, "\(pulled.testDescription)")
    let sources = try bench.status().sources
    #expect(sources.map(\.url) == [liar.base, honest.base])
    #expect(sources[0].bytes == 0 && sources[0].held > 86_000)
    #expect(sources[0].refusals.map(\.category) == ["block-mismatch"])
    #expect(sources[1].bytes == Int64(release.bytes.count))
    #expect(sources[1].refusals.map(\.category) == ["http-status"])
    #expect(try bench.fetchres.run("status", bench.directory).output.contains("left alone"))
    // The next version is not asked of it, although it would be right now.
    liar.bend(nil)
    liar.forget()
    let second = try bench.site.publish(randomBytes(100 * Site.blockSize), version: "v2")
    try bench.pull("--mirror", honest.base).expect(0)
    try bench.expectComplete(second)
    #expect(liar.bytes(of: second.dataPath) == 0)
    // Alone it is better than nothing.
    let third = try bench.site.publish(randomBytes(10 * Site.blockSize), version: "v3")
    try bench.pull().expect(0)
    try bench.expectComplete(third)
  }

  @Test("a silent source alone ends the run within the patience")
  func silent() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(10 * Site.blockSize))
    try bench.origin().bendData(of: release) { _, response in
      (response.limit, response.ending) = (0, .hold)
    }
    let outcome = try bench.pull("--json", "--stall", "1K/1s", "--give-up-after", "4")
    outcome.expect(3)
    try bench.expectUnfinished(release)
    #expect(try bench.origin().entries(of: release.dataPath).count <= RangeFaultTests.bound)
  }
}
