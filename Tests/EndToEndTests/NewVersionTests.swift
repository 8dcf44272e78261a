import System
import Testing

/// What a run does when the publisher has gone on.
@Suite struct NewVersionTests {
  /// An interrupted pull of `v1`, and `v2` published after it.
  static func overtaken() throws -> (Workbench, Release, Release) {
    let bench = try Workbench()
    let old = try bench.site.publish(randomBytes(80 * Site.blockSize))
    try bench.interruptPull(old, upTo: 48)
    let new = try bench.site.publish(randomBytes(10 * Site.blockSize), version: "v2")
    return (bench, old, new)
  }

  @Test(
    "a second version comes to lie beside the first, and becomes the current one",
    arguments: Server.available)
  func beside(_ server: Server) throws {
    let bench = try Workbench(server)
    let first = try bench.site.publish(randomBytes(300_000))
    try bench.pull().expect(0)
    let second = try bench.site.publish(
      randomBytes(200_000), version: "v2", file: "other.bin", blockSize: 1_000)
    try bench.pull().expect(0)
    try bench.expectComplete(second)
    #expect(bench.pulled.current == "v2" && bench.pulled.markers == ["v1", "v2"])
    #expect(areEqual(try Disk.read("\(bench.directory)/v1/thing.bin"), first.bytes))
    let verified = try bench.fetchres.run("verify", bench.directory)
    verified.expect(0)
    #expect(verified.output.split(separator: "\n").count == 2)
    #expect(try bench.status().complete.map(\.version) == ["v2", "v1"])
  }

  @Test(
    "a URL with a version in it fetches that version and leaves current alone",
    arguments: Server.available)
  func pinned(_ server: Server) throws {
    let bench = try Workbench(server)
    let first = try bench.site.publish(randomBytes(300_000))
    let second = try bench.site.publish(randomBytes(200_000), version: "v2")
    try bench.pull().expect(0)
    let old = try bench.pull(pinned: "v1")
    old.expect(0)
    #expect(old.line == "\(bench.directory)/v1/thing.bin")
    #expect(areEqual(try Disk.read(old.line), first.bytes))
    #expect(bench.pulled.current == "v2")
    try bench.expectComplete(second)
    // Again, with nothing to do.
    try bench.pull(pinned: "v1").expect(0)
    #expect(bench.pulled.current == "v2")
    try bench.pull("--json", pinned: "v3").expectFailure("http-status", 4, "404")
  }

  @Test("a pinned version alone is available without a current")
  func pinnedAlone() throws {
    let bench = try Workbench()
    let first = try bench.site.publish(randomBytes(300_000))
    try bench.site.publish(randomBytes(200_000), version: "v2")
    try bench.pull(pinned: "v1").expect(0)
    #expect(bench.pulled.current == nil)
    try bench.expectComplete(first)
  }

  @Test("the manifest of another version behind a pinned URL is refused")
  func pinnedToAnother() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    try bench.site.publish(randomBytes(2_000), version: "v2")
    let other = try bench.site.manifest("v2")
    try bench.origin().bend { request, response in
      if request.path == "/releases/v1/manifest" { response.replaceBody(other) }
    }
    try bench.pull("--json", pinned: "v1").expectFailure("manifest-malformed", 4, "version v2")
    #expect(bench.pulled.markers.isEmpty)
  }

  // MARK: Unfinished work on an older one

  @Test("by default the older version is finished, and the run says that a newer one is there")
  func continues() throws {
    let (bench, old, new) = try Self.overtaken()
    let finished = try bench.pull("--json")
    finished.expect(0)
    let last = try finished.last()
    #expect(last.version == "v1" && last.newerVersion == "v2")
    #expect(try finished.events("note").contains { $0.message?.contains("v2 is newer") == true })
    #expect(try bench.origin().blocksAsked(of: old) == Set(48..<80))
    #expect(try bench.origin().count(of: new.dataPath) == 0)
    try bench.expectComplete(old)
    let next = try bench.pull()
    next.expect(0)
    try bench.expectComplete(new)
    #expect(bench.pulled.current == "v2")
  }

  @Test("with stop the run ends, says so, and keeps the work")
  func stops() throws {
    let (bench, old, _) = try Self.overtaken()
    let stopped = try bench.pull("--json", "--on-new-version", "stop")
    try stopped.expectFailure("new-version", 8, "version v2 is there", "v1 is unfinished", "hint: ")
    #expect(try bench.origin().entries.allSatisfy { !$0.request.path.hasPrefix("/releases/") })
    try bench.expectUnfinished(old)
    let finished = try bench.pull("--on-new-version", "continue")
    finished.expect(0)
    try bench.expectComplete(old)
    #expect(try bench.origin().blocksAsked(of: old) == Set(48..<80))
  }

  @Test("with switch the newer version is fetched")
  func switches() throws {
    let (bench, old, new) = try Self.overtaken()
    let switched = try bench.pull("--json", "--on-new-version", "switch")
    switched.expect(0)
    #expect(try switched.last().version == "v2")
    #expect(try bench.origin().count(of: old.dataPath) == 0)
    #expect(try bench.path() == "\(bench.directory)/v2/thing.bin")
    #expect(areEqual(try Disk.read("\(bench.directory)/v2/thing.bin"), new.bytes))
    #expect(bench.pulled.current == "v2" && bench.pulled.markers == ["v2"])
  }

  @Test("work that was left behind by a switch is not taken up when a third version comes")
  func leftBehind() throws {
    let (bench, _, _) = try Self.overtaken()
    try bench.pull("--on-new-version", "switch").expect(0)
    let newest = try bench.site.publish(randomBytes(12 * Site.blockSize), version: "v3")
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    #expect(try outcome.last().version == "v3")
    #expect(bench.pulled.current == "v3")
    #expect(areEqual(try Disk.read("\(bench.directory)/v3/thing.bin"), newest.bytes))
  }

  @Test("if the older version is gone from the server, the run says what to do")
  func gone() throws {
    let (bench, old, new) = try Self.overtaken()
    let aside = bench.scratch("aside")
    try Disk.move("\(bench.site.path)/releases/v1", to: aside)
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("new-version", 8, "v1 is gone", "--on-new-version switch")
    #expect(try bench.origin().entries.count < 40)
    try bench.expectUnfinished(old)
    #expect(try bench.pulled.onlyPartial().journal.claims() == Set(0..<48))
    try bench.pull("--on-new-version", "switch").expect(0)
    #expect(areEqual(try Disk.read("\(bench.directory)/v2/thing.bin"), new.bytes))
  }

  @Test("the older version stays available until the newer one is complete")
  func oldStays() throws {
    let bench = try Workbench()
    let old = try bench.site.publish(randomBytes(300_000))
    try bench.pull().expect(0)
    let new = try bench.site.publish(randomBytes(80 * Site.blockSize), version: "v2")
    let seen = Monitor<[String?]>([])
    let (pulled, path) = (bench.pulled, new.dataPath)
    try bench.origin().bend { request, _ in
      if request.path == path { seen.change { $0.append(pulled.current) } }
    }
    try bench.pull().expect(0)
    let currents = seen.look { $0 }
    #expect(!currents.isEmpty && currents.allSatisfy { $0 == "v1" })
    #expect(bench.pulled.current == "v2")
    #expect(areEqual(try Disk.read("\(bench.directory)/v1/thing.bin"), old.bytes))
  }

  // MARK: --keep

  @Test("--keep leaves so many complete versions, the newest ones", arguments: [1, 2, 3])
  func keeps(_ count: Int) throws {
    let bench = try Workbench()
    var newest: Release?
    for version in ["v1", "v2", "v3"] {
      newest = try bench.site.publish(randomBytes(10_000), version: version)
      try bench.pull("--keep", "\(count)").expect(0)
    }
    #expect(bench.pulled.markers == Array(["v1", "v2", "v3"].suffix(count)))
    try bench.expectComplete(try #require(newest))
  }

  @Test("--keep of a pull of an older version leaves the current one", arguments: [1, 2, 3])
  func keepsCurrent(_ count: Int) throws {
    let bench = try Workbench()
    for version in ["v1", "v2", "v3"] {
      try bench.site.publish(randomBytes(10_000), version: version)
      try bench.pull().expect(0)
    }
    try bench.pull("--keep", "\(count)", pinned: "v1").expect(0)
    // A pull that has something to finish is the one that tidies up.
    try Disk.remove("\(bench.directory)/v1")
    try bench.pull("--keep", "\(count)", pinned: "v1").expect(0)
    #expect(bench.pulled.markers == (count == 3 ? ["v1", "v2", "v3"] : ["v1", "v3"]))
    #expect(bench.pulled.current == "v3")
  }
}
