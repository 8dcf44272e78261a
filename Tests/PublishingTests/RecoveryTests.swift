import Failure
import Publishing
import TestSupport
import Testing

/// What a site is rebuilt from, and what is said of it then.
@Suite struct RecoveryTests {
  /// A machine with three releases, and a mirror that has the first two.
  private func behind() throws -> (Workshop, mirror: [String: [UInt8]], head: [UInt8]) {
    var workshop = try Workshop()
    try workshop.publish(2, from: 1)
    let mirror = try ServedSite(workshop).files
    let head = try #require(workshop.bytes("/keys/first.head"))
    try workshop.publish(1, from: 3)
    return (workshop, mirror, head)
  }

  @Test(arguments: [false, true])
  func `a site that is ahead of the source keeps its releases`(_ hasHead: Bool) throws {
    let (workshop, mirror, head) = try behind()
    // The record of the key is that of the back-up, or lost.
    try workshop.remove("/keys/first.head")
    if hasHead { try workshop.put("/keys/first.head", head) }
    let before = try workshop.files()
    let refusal = failure { () throws(FetchFailure) in try workshop.recover(from: mirror) }
    #expect(refusal?.category == .stale && refusal?.exitCode == 4)
    #expect(refusal?.message.contains("has 2 releases, and /site has 3") == true)
    #expect(refusal?.hint?.contains("not behind") == true)
    #expect(try workshop.files() == before)
    // What nobody signed is no reason to keep it.
    var damaged = try #require(workshop.bytes("/site/checkpoint"))
    damaged[damaged.count - 10] ^= 1
    try workshop.remove(Workshop.site)
    try workshop.put("/site/checkpoint", damaged)
    try workshop.recover(from: mirror)
    #expect(try workshop.verifyLog().releases == 2)
  }

  @Test(arguments: 2...4)
  func `a site with another history than the source is a fork`(_ size: Int) throws {
    var start = try Workshop()
    try start.publish(1, from: 1)
    var (here, there) = (
      start.on(start.fileSystem.copy()), start.on(start.fileSystem.copy())
    )
    try here.publish(1, from: 2)
    there.seconds += 1
    try there.publish(size - 1, from: 2)
    try here.remove("/keys/first.head")
    let before = try here.files()
    let source = try ServedSite(there).files
    let refusal = failure { () throws(FetchFailure) in try here.recover(from: source) }
    #expect(refusal?.category == .fork && refusal?.exitCode == 5)
    #expect(try here.files() == before)
  }

  @Test func `a key without a record gets one, and one line says so`() throws {
    let (workshop, mirror, _) = try behind()
    try workshop.remove(Workshop.site)
    try workshop.remove("/keys/first.head")
    var lines: [String] = []
    try workshop.recover(from: mirror) { lines.append($0) }
    #expect(lines.count == 1 && lines.first?.contains("protects from now on") == true)
    #expect(workshop.bytes("/keys/first.head") == mirror["checkpoint"])
    lines = []
    try workshop.recover(from: mirror) { lines.append($0) }
    #expect(lines.isEmpty)
  }

  @Test func `the whole of a recovered site has to be uploaded`() throws {
    var (workshop, _, _) = try behind()
    let mirror = try ServedSite(workshop).files
    #expect(try workshop.uploadOrder().files[.manifests] == ["manifest"])
    try workshop.put("/site/.publish/earlier", try #require(workshop.bytes("/site/.publish/last")))
    try workshop.recover(from: mirror)
    let after = workshop.on(workshop.fileSystem.crash(survivors: .nothingUnsynced))
    let refusal = failure { () throws(FetchFailure) in _ = try after.uploadOrder() }
    #expect(refusal?.category == .unavailable)
    #expect(refusal?.hint?.contains("the whole site") == true)
    workshop = after
    workshop.seconds += 10
    try workshop.publish("v4", "three")
    #expect(
      try workshop.uploadOrder().files[.releases] == ["releases/v4/manifest", "releases/v4/three"])
  }
}
