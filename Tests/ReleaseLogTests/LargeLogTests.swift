import Failure
import Manifest
import ReleaseLog
import Testing

@Suite struct LargeLogTests {
  /// A log with so many entries of another kind below its last releases.
  static func world(_ count: Int) -> World {
    var world = World()
    world.publish("v0")
    world.log(others: count - 2)
    world.publish("v1")
    return world
  }

  @Test(
    "one release behind in a long log, a pull asks for few small files",
    arguments: [255, 256, 65_535, 65_536, 100_000])
  func fewFiles(_ count: Int) throws {
    var world = Self.world(count)
    let (visitor, server) = (Visitor(world), Server(world))
    _ = try visitor.pull(server)
    // All of it in two rounds: the notes, then whatever tiles they need.
    #expect(server.asked.count <= 12, "\(server.asked)")
    world.publish("v2")
    server.serve(world)
    server.forget()
    #expect(try visitor.pull(server).release.manifest.version == "v2")
    #expect(server.asked.count <= 12, "\(server.asked)")
    server.forget()
    _ = try visitor.pull(server)
    #expect(server.asked.sorted() == ["checkpoint", "manifest"])
  }

  @Test("entries of another kind at the end are passed over")
  func otherKinds() throws {
    var world = Self.world(10)
    let (visitor, server) = (Visitor(world), Server(world))
    _ = try visitor.pull(server)
    world.publish("v2")
    world.log(others: 700)
    server.serve(world)
    let old = world.entries[0]
    server.put(SitePaths.manifest, old)
    #expect(try visitor.pull(server).release.manifest.version == "v2")
    #expect(try visitor.state().head?.size == 711)
  }

  @Test("a partial tile that has grown is taken from the full one")
  func grown() throws {
    var world = Self.world(300)
    let (visitor, server) = (Visitor(world), Server(world))
    _ = try visitor.pull(server)
    let files = world.files
    var later = world
    world.publish("v2")
    later.publish("v2")
    later.log(others: 400)
    // The checkpoint is a cached one, and its partial tiles are gone.
    var mixed = later.files
    for path in [SitePaths.checkpoint, SitePaths.manifest] { mixed[path] = world.files[path] }
    mixed["tile/1/000.p/1"] = files["tile/1/000.p/1"]
    server.serve(world)
    for (path, _) in world.files { server.put(path, mixed[path]) }
    for (path, bytes) in mixed { server.put(path, bytes) }
    #expect(mixed["tile/0/001.p/45"] == nil && mixed["tile/0/001"] != nil)
    #expect(try visitor.pull(server).release.manifest.version == "v2")
  }

  @Test("a pinned version has to be in the log, and the newest is named")
  func pinned() throws {
    var world = World()
    world.release("v1", "v2", "v3")
    let (visitor, server) = (Visitor(world), Server(world))
    visitor.pinned = "v1"
    var verdict = try visitor.pull(server)
    #expect(verdict.release.manifest.version == "v1" && verdict.newest.manifest.version == "v3")
    #expect(try visitor.state().newest?.manifest.version == "v3")
    verdict = try visitor.pull(server)
    #expect(verdict.release.manifest.version == "v1" && verdict.newest.manifest.version == "v3")
    // While the server is behind, what it shows is still part of the log.
    var behind = World(world, dropping: 1)
    server.serve(behind)
    verdict = try visitor.pull(server)
    #expect(verdict.release.manifest.version == "v1" && verdict.newest.manifest.version == "v3")
    // Another manifest of the version was never logged.
    server.serve(world)
    behind.manifests[0]?.file = "other.map"
    let forged = behind.note(try #require(behind.manifests[0]))
    server.put(SitePaths.releaseManifest("v1"), forged)
    #expect(visitor.refusal(server) == .notLogged)
  }
}
