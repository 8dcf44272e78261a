import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import TestSupport
import Testing

/// What may be done to a client: every row about attacks in the documentation has its test here, by its
/// name, and what is no attack at all.
@Suite struct AttackTests {
  @Test("an honest server")
  func honest() throws {
    var (world, visitor, server) = try World.settled()
    #expect(visitor.notes.first?.hasPrefix("first use of maps.example.com/world") == true)
    world.publish("v4")
    server.serve(world)
    let verdict = try visitor.pull(server)
    #expect(verdict.release.manifest.version == "v4" && verdict.release.note == world.newest)
    #expect(visitor.events.isEmpty && visitor.waited.isEmpty)
    let state = try visitor.state()
    #expect(state.head?.size == 4 && state.newest?.note == world.newest && state.runs == 2)
    #expect(state.faults.isEmpty && state.alerts.alerts.isEmpty)
  }

  @Test("arbitrary content")
  func arbitraryContent() throws {
    let (world, visitor, server) = try World.settled()
    var thief = World()
    thief.release("v1", "v2", "v3", "v4")
    server.serve(thief)
    #expect(visitor.refusal(server) == .keyChange)
    #expect(visitor.alerts == [.keyChange])
    // One byte of a genuine manifest.
    server.serve(world)
    var changed = world.newest
    changed[60] ^= 1
    server.put(SitePaths.manifest, changed)
    #expect(visitor.refusal(server) == .badSignature)
    #expect(visitor.alerts == [.badSignature])
    #expect(try visitor.state().head?.isSame(as: world.head()) == true)
    // Somebody who knows nothing yet has nothing to compare with.
    #expect(Visitor(world).refusal(Server(thief)) == .unknownKey)
  }

  @Test("rollback")
  func rollback() throws {
    var (world, visitor, server) = try World.settled()
    let old = world
    world.publish("v4")
    server.serve(world)
    _ = try visitor.pull(server)
    server.serve(old)
    // At first the server is only behind.
    #expect(try visitor.pull(server).release.manifest.version == "v4")
    #expect(visitor.faults.contains("\(server.name) stale"))
    visitor.pass(seconds: 16 * 60)
    #expect(visitor.refusal(server) == .rollback)
    #expect(visitor.waited == [1, 4, 9, 16] && visitor.alerts == [.rollback])
    // Raised once; the head stays.
    #expect(visitor.refusal(server) == .rollback)
    #expect(visitor.alerts == [])
    #expect(try visitor.state().head?.size == 4)
    server.serve(world)
    #expect(try visitor.pull(server).release.manifest.version == "v4")
    #expect(try visitor.state().behindSince == nil)
  }

  @Test("fast-forward")
  func fastForward() throws {
    let (world, visitor, server) = try World.settled()
    server.put(SitePaths.manifest, world.note(world.manifest("v9", release: 1_000_000)))
    #expect(try visitor.pull(server).release.manifest.version == "v3")
    #expect(visitor.waited == [1, 4, 9, 16])
    server.serve(world)
    #expect(try visitor.pull(server).release.manifest.version == "v3")
    #expect(try visitor.state().newest?.manifest.release == 2)
  }

  @Test("freeze")
  func freeze() throws {
    let (world, visitor, server) = try World.settled()
    visitor.maximumAge = 86_400
    #expect(visitor.refusal(server) == nil)
    visitor.pass(seconds: 2 * 86_400)
    let failure = failure { () throws(FetchFailure) in _ = try visitor.pull(server) }
    #expect(failure?.category == .expired)
    #expect(failure?.message.contains("the local clock says 2027-01-17") == true)
    // The publisher only has to sign again.
    var fresh = world
    fresh.publish("v3", published: visitor.wall - 60)
    server.serve(fresh)
    #expect(visitor.refusal(server) == nil)
  }

  @Test("mix-and-match")
  func mixAndMatch() throws {
    var (world, visitor, server) = try World.settled()
    let old = world
    world.publish("v4")
    // An older manifest beside the new log: the log knows better.
    server.serve(world)
    server.put(SitePaths.manifest, old.newest)
    #expect(try visitor.pull(server).release.manifest.version == "v4")
    #expect(visitor.faults == ["\(server.name) stale"])
    // A newer manifest beside an older log.
    var newer = world
    newer.publish("v5")
    server.serve(world)
    server.put(SitePaths.manifest, newer.newest)
    #expect(try visitor.pull(server).release.manifest.version == "v4")
    // Tiles of another log.
    var other = World()
    other.release("a", "b", "c", "d", "e")
    server.serve(newer)
    server.put("tile/0/000.p/5", other.files["tile/0/000.p/5"])
    #expect(visitor.refusal(server) == .tileInvalid)
    #expect(visitor.alerts.isEmpty)
  }

  @Test("wrong resource")
  func wrongResource() throws {
    let (world, visitor, server) = try World.settled()
    var other = World()
    other.origin = Origin("maps.example.com/other")!
    other.key = SigningKey.generate(other.origin)
    other.publish("v4")
    server.put(SitePaths.manifest, other.newest)
    #expect(visitor.refusal(server) == .unknownKey)
    // Also if the user trusts the other one, for what it is.
    visitor.trusted.append(other.key.key)
    #expect(visitor.refusal(server) == .originMismatch)
    server.serve(world)
    server.put(SitePaths.checkpoint, other.signedCheckpoint())
    #expect(visitor.refusal(server) == .originMismatch)
  }

  @Test("endless data")
  func endlessData() throws {
    let (_, visitor, server) = try World.settled()
    let endless = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    for path in [SitePaths.manifest, SitePaths.checkpoint] {
      server.bend { asked, _ in asked == path ? endless : nil }
      #expect(visitor.refusal(server) == .tooLarge)
    }
    #expect(visitor.alerts.isEmpty)
  }

  @Test("malicious mirror beside a good one")
  func maliciousMirror() throws {
    var (world, visitor, good) = try World.settled()
    world.publish("v4")
    good.serve(world)
    let bad = Server("http://two.example/", world)
    let junk = Array("junk\n".utf8)
    for spoiled in [SitePaths.manifest, SitePaths.checkpoint, "tile/0/000.p/4"] {
      bad.bend { path, _ in path == spoiled ? junk : nil }
      for order in [[bad, good], [good, bad]] {
        let client = Visitor(world)
        let verdict = try client.pull(sources: order.map(\.source))
        #expect(verdict.release.manifest.version == "v4", "\(spoiled)")
        #expect(client.alerts.isEmpty)
      }
    }
    bad.bend(nil)
    bad.isDown = true
    #expect(try visitor.pull(bad, good).release.manifest.version == "v4")
    #expect(visitor.faults == ["\(bad.name) unreachable"] && visitor.waited.isEmpty)
  }

  @Test("a mirror that trickles tiles or entries beside a good one")
  func slowMirror() throws {
    let junk = Array("\u{2014} somebody.example AAAAAAAAAAAA\n".utf8)
    for slow in ["tile/", "tile/entries/", "tile/0/"] {
      for isFirst in [true, false] {
        for isKnown in [true, false] {
          var world = LargeLogTests.world(300)
          let good = Server("http://two.example/", world)
          let visitor = Visitor(world)
          visitor.patience = 0
          if isKnown { _ = try visitor.pull(good) }
          world.publish("v2")
          good.serve(world)
          // Another signature line makes the entry be asked for.
          let bad = Server(world)
          bad.put(SitePaths.manifest, world.newest + junk)
          let server = SlowServer(bad) { $0.hasPrefix(slow) }
          let sources = [server.source, good.source]
          let verdict = try visitor.pull(sources: isFirst ? sources : sources.reversed())
          #expect(!server.end(), "\(slow) \(isFirst) \(isKnown)")
          #expect(verdict.release.note == world.newest && visitor.alerts.isEmpty)
        }
      }
    }
  }

  @Test("split view")
  func splitView() throws {
    var (world, visitor, server) = try World.settled()
    var other = world
    world.release("v4", "v5")
    other.release("v4-for-you", "v5-for-you", "v6-for-you")
    server.serve(world)
    _ = try visitor.pull(server)
    server.serve(other)
    #expect(visitor.refusal(server) == .fork)
    #expect(visitor.alerts == [.fork])
    let alert = try #require(try visitor.state().alerts.alerts.last)
    let path = try #require(alert.evidence)
    #expect(path.hasPrefix("/state/evidence/"))
    let bytes = try visitor.fileSystem.openFile(path).readAll(path, limit: 1 << 20)
    let evidence = try Evidence(bytes, trusted: [world.key.key])
    #expect(evidence.smaller.size == 5 && evidence.larger.size == 6)
    // The same size, and smaller.
    var twin = World(world, dropping: 1)
    var smaller = World(world, dropping: 2)
    twin.publish("v5-for-you")
    smaller.publish("v4-for-you")
    for fork in [twin, smaller] {
      server.serve(fork)
      #expect(visitor.refusal(server) == .fork)
      #expect(visitor.alerts == [.fork])
    }
    // Two mirrors that show different things to somebody who is new.
    let newcomer = Visitor(world)
    let mirror = Server("http://two.example/", other)
    server.serve(world)
    #expect(newcomer.refusal(server, mirror) == .fork)
    #expect(try visitor.pull(server).release.manifest.version == "v5")
  }

  /// 300 releases, and 200 of which the last 190 are others.
  private static func forkedLogs() -> (world: World, other: World) {
    let world = LargeLogTests.world(300)
    var other = World(world, dropping: 290)
    other.log(others: 189)
    other.publish("v1-for-you")
    return (world, other)
  }

  @Test("split view while nobody has tiles to compare with")
  func uncomparedSplitView() throws {
    let (world, other) = Self.forkedLogs()
    // Seen once or several times, shown still or not any more, and with or without a newer release.
    for (runs, isShown, isNewer) in [
      (1, true, false), (3, true, false), (1, false, false), (1, true, true), (1, false, true),
    ] {
      let (visitor, server) = (Visitor(world), Server(world))
      let mirror = Server("http://two.example/", other)
      _ = try visitor.pull(server)
      for each in [server, mirror] {
        each.bend { path, _ in path.hasPrefix("tile/") ? [] : nil }
      }
      for _ in 0..<runs {
        #expect(try visitor.pull(server, mirror).release.note == world.newest)
        #expect(visitor.alerts.isEmpty)
        #expect(try visitor.state().seen.first { $0.head.size == 200 }?.standing == .pending)
      }
      for each in [server, mirror] { each.bend(nil) }
      var later = world
      if isNewer { later.publish("v2") }
      server.serve(later)
      if !isShown { mirror.isDown = true }
      #expect(visitor.refusal(server, mirror) == .fork)
      #expect(visitor.alerts == [.fork])
    }
  }

  @Test("split view whose tiles are kept back")
  func splitViewKeptBack() throws {
    let (world, other) = Self.forkedLogs()
    for isShown in [true, false] {
      let (visitor, server) = (Visitor(world), Server(world))
      let mirror = Server("http://two.example/", other)
      _ = try visitor.pull(server)
      for each in [server, mirror] {
        each.bend { path, _ in path.hasPrefix("tile/") ? [] : nil }
      }
      _ = try visitor.pull(server, mirror)
      if !isShown { mirror.isDown = true }
      visitor.pass(seconds: 14 * 60)
      _ = try visitor.pull(server, mirror)
      #expect(visitor.alerts.isEmpty)
      visitor.pass(seconds: 2 * 60)
      #expect(try visitor.pull(server, mirror).release.note == world.newest)
      #expect(visitor.alerts == [.withheld])
      visitor.maximumAge = 365 * 86_400
      #expect(visitor.refusal(server, mirror) == .withheld)
      #expect(visitor.alerts.isEmpty, "it is said once")
      // With tiles it is what it is.
      server.bend(nil)
      #expect(visitor.refusal(server, mirror) == .fork)
      #expect(visitor.alerts == [.fork])
    }
  }

  @Test("a release that nobody else sees")
  func notLogged() throws {
    let (world, visitor, server) = try World.settled()
    let secret = world.note(world.manifest("v3-for-you", release: 2))
    server.put(SitePaths.manifest, secret)
    #expect(visitor.refusal(server) == .notLogged)
    #expect(visitor.alerts == [.notLogged])
    // Beside one who shows what is logged, it ends nothing.
    let good = Server("http://two.example/", world)
    #expect(try visitor.pull(server, good).release.manifest.version == "v3")
  }

  @Test("a version that is used again")
  func versionReused() throws {
    var (world, visitor, server) = try World.settled()
    world.publish("v3", content: "something else")
    server.serve(world)
    #expect(visitor.refusal(server) == .versionReused)
    #expect(visitor.alerts == [.versionReused])
    #expect(try visitor.state().head?.size == 3)
  }

  @Test("a newer state that is withheld")
  func withheld() throws {
    var (world, visitor, server) = try World.settled()
    world.release("v4", "v5")
    let head = try world.head()
    let seen = SeenHead(
      head, .pending, peer: "a friend",
      firstSeen: Moment(boot: visitor.boot, seconds: visitor.sinceBoot, run: 1))
    _ = try visitor.store.update { state in
      state.remember(seen)
      return true
    }
    _ = try visitor.pull(server)
    #expect(visitor.alerts.isEmpty)
    visitor.pass(seconds: 16 * 60)
    #expect(try visitor.pull(server).release.manifest.version == "v3")
    #expect(visitor.alerts == [.withheld])
    visitor.maximumAge = 365 * 86_400
    #expect(visitor.refusal(server) == .withheld)
    // As soon as somebody shows it, all is well.
    server.serve(world)
    #expect(visitor.refusal(server) == nil)
    #expect(try visitor.state().seen.allSatisfy { $0.standing == .proven })
  }
}
