import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import System
import TestSupport
import Testing

/// What may look like an attack and is none: every row about that in the documentation has its test here,
/// by its name.
@Suite struct FalseAlarmTests {
  @Test("edges out of step, the manifest first")
  func manifestFirst() throws {
    var (world, visitor, server) = try World.settled()
    let old = world
    world.publish("v4")
    let (new, stale) = (world.files, old.signedCheckpoint())
    server.serve(world)
    server.put(SitePaths.manifest, new[SitePaths.manifest])
    // The cache of the checkpoint gives way when it is asked to.
    server.bend { path, bypasses in path == SitePaths.checkpoint && !bypasses ? stale : nil }
    #expect(try visitor.pull(server).release.manifest.version == "v4")
    #expect(visitor.waited == [1] && visitor.alerts.isEmpty)
    // And if it does not, the run ends well with what the log holds.
    let second = Visitor(world)
    server.bend { path, _ in path == SitePaths.checkpoint ? stale : nil }
    #expect(try second.pull(server).release.manifest.version == "v3")
    #expect(second.waited == [1, 4, 9, 16] && second.alerts.isEmpty)
  }

  @Test("edges out of step, the checkpoint first")
  func checkpointFirst() throws {
    var (world, visitor, server) = try World.settled()
    let old = world.newest
    world.release("v4", "v5")
    server.serve(world)
    server.bend { path, _ in path == SitePaths.manifest ? old : nil }
    #expect(try visitor.pull(server).release.note == world.newest)
    #expect(visitor.waited.isEmpty && visitor.alerts.isEmpty)
  }

  @Test("a junk signature line")
  func junkSignature() throws {
    let (world, visitor, server) = try World.settled()
    let line = "\u{2014} somebody.example AAAAAAAAAAAA\n"
    for path in [SitePaths.manifest, SitePaths.checkpoint] {
      let note = try #require(world.files[path])
      // A line of an unknown key changes nothing about the checkpoint; a manifest is another entry.
      server.put(SitePaths.checkpoint, note + Array(line.utf8))
      if path == SitePaths.checkpoint { #expect(visitor.refusal(server) == nil) }
    }
    // A broken line of the known key is the fault of whoever added it.
    let own = String(decoding: world.signedCheckpoint(), as: UTF8.self)
    let start = try #require(own.firstIndex(of: "\u{2014}"))
    let broken = String(own[start...].dropLast(8)) + "AAA=\n"
    server.put(SitePaths.checkpoint, Array((own + broken).utf8))
    let good = Server("http://two.example/", world)
    #expect(visitor.refusal(server, good) == nil)
    #expect(visitor.alerts.isEmpty && visitor.faults.contains { $0.hasPrefix(server.name) })
  }

  @Test(
    "a junk signature line on a manifest, with and without a kept one, of an old and a new release")
  func junkOnManifest() throws {
    let line = Array("\u{2014} somebody.example AAAAAAAAAAAA\n".utf8)
    var (world, visitor, server) = try World.settled()
    let bend: (World) throws -> Void = { world in
      let note = try #require(world.files[SitePaths.manifest])
      server.put(SitePaths.manifest, note + line)
    }
    try bend(world)
    #expect(try visitor.pull(server).release.note == world.newest)
    #expect(visitor.faults.contains { $0.hasPrefix(server.name) })
    world.publish("v4")
    server.serve(world)
    try bend(world)
    #expect(try visitor.pull(server).release.note == world.newest)
    let stranger = Visitor(world)
    #expect(try stranger.pull(server).release.note == world.newest)
    #expect(visitor.alerts.isEmpty && stranger.alerts.isEmpty)
  }

  @Test("a genuine newer checkpoint with garbage tiles")
  func garbageTiles() throws {
    var (world, visitor, server) = try World.settled()
    let old = world
    world.publish("v4")
    server.serve(world)
    server.bend { path, _ in
      path.hasPrefix("tile/0/") ? [UInt8](repeating: 7, count: 128) : nil
    }
    #expect(visitor.refusal(server) == .tileInvalid)
    #expect(visitor.alerts.isEmpty)
    // Beside one that is behind, the run goes on with what that one shows.
    let slow = Server("http://two.example/", old)
    #expect(try visitor.pull(server, slow).release.manifest.version == "v3")
    #expect(visitor.alerts.isEmpty)
    // The head was seen, and is compared as soon as somebody has its tiles.
    #expect(try visitor.state().seen.contains { $0.head.size == 4 && $0.standing == .pending })
    server.bend(nil)
    #expect(try visitor.pull(server, slow).release.manifest.version == "v4")
    #expect(visitor.alerts.isEmpty)
  }

  @Test("last year's checkpoint from one mirror")
  func oldMirror() throws {
    var (world, visitor, server) = try World.settled()
    let old = world
    world.release("v4", "v5")
    server.serve(world)
    _ = try visitor.pull(server)
    visitor.pass(seconds: 365 * 86_400)
    let mirror = Server("http://two.example/", old)
    for _ in 0..<3 {
      #expect(try visitor.pull(mirror, server).release.manifest.version == "v5")
      #expect(visitor.alerts.isEmpty && visitor.waited.isEmpty)
      #expect(visitor.faults == ["\(mirror.name) stale"])
      visitor.pass(seconds: 3_600)
    }
    #expect(try visitor.state().faults.map(\.count) == [3])
  }

  @Test("a mirror that is behind while nobody has tiles to compare with")
  func uncomparedMirror() throws {
    let world = LargeLogTests.world(300)
    let (visitor, server) = (Visitor(world), Server(world))
    _ = try visitor.pull(server)
    let mirror = Server("http://two.example/", World(world, dropping: 100))
    mirror.put(SitePaths.manifest, world.entries[0])
    for each in [server, mirror] { each.bend { path, _ in path.hasPrefix("tile/") ? [] : nil } }
    for _ in 0..<2 {
      #expect(try visitor.pull(server, mirror).release.note == world.newest)
      #expect(visitor.alerts.isEmpty)
    }
    for each in [server, mirror] { each.bend(nil) }
    for _ in 0..<2 {
      #expect(try visitor.pull(server, mirror).release.note == world.newest)
      #expect(visitor.alerts.isEmpty)
      #expect(try visitor.state().seen.allSatisfy { $0.standing == .proven })
    }
  }

  @Test("a slow source beside those that have nothing")
  func slowSource() throws {
    let world = LargeLogTests.world(300)
    let (visitor, good) = (Visitor(world), Server(world))
    visitor.patience = 0
    let bad = Server("http://two.example/", world)
    let isAsked = Monitor(false)
    bad.bend { path, _ in
      guard path.hasPrefix("tile/") else { return nil }
      isAsked.change { $0 = true }
      return []
    }
    // It has until its last byte as long as nobody else has one.
    let slow = LogSource(name: good.name) { ask, done in
      guard ask.path.hasPrefix("tile/") else { return good.source.start(ask, done) }
      _ = WorkThread("slow") {
        _ = isAsked.wait(until: Clocks.monotonic() + 20) { $0 ? true : nil }
        good.source.start(ask, done)
      }
    }
    #expect(try visitor.pull(sources: [slow, bad.source]).release.note == world.newest)
    #expect(visitor.alerts.isEmpty && !visitor.faults.contains { $0.hasPrefix(good.name) })
  }

  @Test("a wrong clock")
  func wrongClock() throws {
    let (world, visitor, server) = try World.settled()
    // Set back by a decade: what is known says that it is later.
    visitor.wall -= 10 * 365 * 86_400
    let verdict = try visitor.pull(server)
    #expect(visitor.alerts.isEmpty)
    #expect(visitor.notes.contains { $0.contains("the local clock says 2017") })
    // A release from the future is a warning, and never a floor.
    #expect(verdict.state.now(wall: visitor.wall).seconds == visitor.wall)
    #expect(
      verdict.state.now(wall: World.start).seconds == World.start + 2 * 60)
    // Waits are on a clock that nobody sets: nothing alarms because the wall clock jumped.
    let old = World(world, dropping: 1)
    server.serve(old)
    _ = try visitor.pull(server)
    visitor.wall += 20 * 365 * 86_400
    #expect(visitor.refusal(server) == nil)
    #expect(visitor.alerts.isEmpty)
  }

  @Test("an announced key that is co-signed by the old one")
  func cosignedChange() throws {
    let keys = (0..<4).map { _ in SigningKey.generate(World.origin) }
    var worlds: [World] = []
    var world = World()
    (world.key, world.nextKey) = (keys[0], KeyRing.digest(of: keys[1].key))
    world.release("v1", "v2")
    worlds.append(world)
    for number in 1...3 {
      // All the keys before sign as well, so that everybody finds the one that he trusts.
      world.cosigners = Array(keys[..<number])
      world.change(to: keys[number], announcing: number < 3 ? keys[number + 1] : nil)
      world.release("v\(2 * number + 1)", "v\(2 * number + 2)")
      worlds.append(world)
    }
    // Whatever of it is missed, and whichever key is trusted.
    for missed in 0..<3 {
      let (visitor, server) = (Visitor([keys[0].key]), Server(worlds[0]))
      _ = try visitor.pull(server)
      for world in worlds[(1 + missed)...] {
        server.serve(world)
        #expect(try visitor.pull(server).release.note == world.newest)
        #expect(visitor.alerts.isEmpty && visitor.faults.isEmpty)
      }
      #expect(try visitor.state().successions.map(\.since) == [2, 4, 6])
      // An older release stays what it was.
      visitor.pinned = "v1"
      #expect(try visitor.pull(server).release.note == world.entries[0])
      #expect(visitor.alerts.isEmpty && visitor.faults.isEmpty)
    }
  }

  @Test("a trusted key that only co-signs")
  func onlyCosigned() throws {
    let (cosigner, keys) = (
      SigningKey.generate(World.origin), (0..<3).map { _ in SigningKey.generate(World.origin) }
    )
    var world = World()
    (world.key, world.nextKey) = (keys[0], KeyRing.digest(of: keys[1].key))
    world.cosigners = [cosigner]
    world.release("v1", "v2")
    let server = Server(world)
    // One pulls every release, the other misses the announcement of the last key.
    let (visitor, absent) = (Visitor([cosigner.key]), Visitor([cosigner.key]))
    for each in [visitor, absent] { _ = try each.pull(server) }
    world.publish("v3")
    for number in 1...2 {
      world.change(to: keys[number], announcing: number < 2 ? keys[number + 1] : nil)
      world.publish("v\(number + 3)")
      server.serve(world)
      #expect(try visitor.pull(server).release.note == world.newest)
    }
    #expect(try absent.pull(server).release.note == world.newest)
    for each in [visitor, absent] {
      #expect(each.alerts.isEmpty && each.faults.isEmpty)
      each.pinned = "v1"
      #expect(try each.pull(server).release.note == world.entries[0])
      #expect(each.alerts.isEmpty && each.faults.isEmpty)
    }
  }

  @Test("an older release that a later key co-signed")
  func olderCosigned() throws {
    let later = SigningKey.generate(World.origin)
    var world = World()
    world.nextKey = KeyRing.digest(of: later.key)
    world.cosigners = [later]
    world.publish("v1")
    world.change(to: later)
    world.cosigners = []
    world.publish("v2")
    let (visitor, server) = (Visitor(world), Server(world))
    _ = try visitor.pull(server)
    visitor.pinned = "v1"
    #expect(try visitor.pull(server).release.note == world.entries[0])
    #expect(visitor.alerts.isEmpty && visitor.faults.isEmpty)
  }

  @Test("a machine that was started again")
  func restarted() throws {
    let (world, visitor, server) = try World.settled()
    server.serve(World(world, dropping: 1))
    #expect(visitor.refusal(server) == nil)
    // The first run after a start does not count as late, however the clocks stand; the second does.
    visitor.restart()
    visitor.sinceBoot = 1_000_000
    #expect(visitor.refusal(server) == nil)
    #expect(visitor.refusal(server) == .rollback)
  }
}

extension World {
  /// The same history, without its last releases.
  init(_ other: World, dropping count: Int = 0) {
    self = other
    entries.removeLast(count)
    for release in size..<size + Int64(count) { manifests[release] = nil }
  }
}
