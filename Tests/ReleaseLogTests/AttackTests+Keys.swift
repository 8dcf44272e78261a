import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import TestSupport
import Testing

/// What somebody who has a key may do to a client.
extension AttackTests {
  @Test("key compromise with an announced next key")
  func keyCompromise() throws {
    let (second, third) = (
      SigningKey.generate(World.origin), SigningKey.generate(World.origin)
    )
    var world = World()
    world.nextKey = KeyRing.digest(of: second.key)
    world.release("v1", "v2")
    let (visitor, server) = (Visitor(world), Server(world))
    _ = try visitor.pull(server)

    // The thief of the current key can announce no key of his own, and install none.
    var thief = world
    let stolen = SigningKey.generate(World.origin)
    thief.nextKey = KeyRing.digest(of: stolen.key)
    thief.publish("v3")
    server.serve(thief)
    #expect(visitor.refusal(server) == .keyChange)
    thief.change(to: stolen)
    thief.publish("v4")
    server.serve(thief)
    #expect(visitor.refusal(server) == .keyChange)

    // The publisher goes on with the announced one: accepted, and said once.
    let before = world
    world.change(to: second, announcing: third)
    world.publish("v3")
    server.serve(world)
    #expect(try visitor.pull(server).release.manifest.version == "v3")
    #expect(visitor.notes.filter { $0.contains("changed at release 2") }.count == 1)
    _ = try visitor.pull(server)
    #expect(visitor.notes.isEmpty)

    // The old key counts no more for what comes later.
    var late = before
    late.release("v3", "v4", "v5")
    server.serve(late)
    #expect(visitor.refusal(server) == .keyChange)

    // Changes that were missed are walked back.
    let fourth = SigningKey.generate(World.origin)
    let absent = Visitor(before)
    server.serve(before)
    _ = try absent.pull(server)
    world.publish("v4")
    world.change(to: third, announcing: fourth)
    world.release("v5", "v6")
    world.change(to: fourth)
    world.publish("v7")
    server.serve(world)
    #expect(try absent.pull(server).release.manifest.version == "v7")
    #expect(try absent.state().successions.map(\.since) == [2, 4, 6])
    #expect(try visitor.pull(server).release.manifest.version == "v7")
  }

  @Test("key compromise with a co-signed key of the thief")
  func cosignedThief() throws {
    let (announced, own) = (SigningKey.generate(World.origin), SigningKey.generate(World.origin))
    for next in [KeyRing.digest(of: announced.key), nil] {
      var world = World()
      world.nextKey = next
      world.release("v1", "v2")
      let (visitor, server) = (Visitor(world), Server(world))
      _ = try visitor.pull(server)
      let kept = try visitor.state().newest
      // The stolen key signs only beside one that nobody announced, whatever that says of itself.
      for since in [nil, 0] as [Int64?] {
        var thief = world
        thief.cosigners = [world.key]
        thief.change(to: own, announcing: own)
        if let since { thief.since = since }
        for version in ["v3", "v4"] {
          thief.publish(version)
          server.serve(thief)
          #expect(visitor.refusal(server) == .keyChange)
        }
        // Nor does it announce one by itself behind that.
        (thief.key, thief.cosigners, thief.since) = (world.key, [], 0)
        thief.publish("v5")
        server.serve(thief)
        #expect(visitor.refusal(server) == .keyChange)
        // From the log as well, where the manifest beside it is the one that is known.
        thief.cosigners = [world.key]
        thief.key = own
        thief.publish("v6")
        server.serve(thief)
        server.put(SitePaths.manifest, world.newest)
        _ = visitor.refusal(server)
        #expect(try visitor.state().newest == kept)
      }
      #expect(try visitor.state().successions.isEmpty)
      server.serve(world)
      #expect(visitor.refusal(server) == nil)
    }
  }

  @Test("key compromise where the trusted key only co-signs")
  func cosigningKeyCompromise() throws {
    let (cosigner, announced) = (
      SigningKey.generate(World.origin), SigningKey.generate(World.origin)
    )
    var world = World()
    world.cosigners = [cosigner]
    world.nextKey = KeyRing.digest(of: announced.key)
    world.release("v1", "v2")
    let (visitor, server) = (Visitor([cosigner.key]), Server(world))
    _ = try visitor.pull(server)
    // One of both keys is not enough to bring in a third one, nor to announce it.
    let own = SigningKey.generate(World.origin)
    var thief = world
    thief.change(to: own, announcing: own)
    thief.publish("v3")
    server.serve(thief)
    #expect(visitor.refusal(server) == .keyChange)
    thief = world
    thief.nextKey = KeyRing.digest(of: own.key)
    thief.publish("v3")
    server.serve(thief)
    #expect(visitor.refusal(server) == .keyChange)
  }

  @Test("key compromise of an old key that is trusted beside the announced one")
  func oldKeyCompromise() throws {
    let second = SigningKey.generate(World.origin)
    var world = World()
    world.nextKey = KeyRing.digest(of: second.key)
    world.release("v1", "v2")
    let first = world
    let (visitor, server) = (Visitor([world.key.key, second.key]), Server(world))
    _ = try visitor.pull(server)
    world.change(to: second)
    world.publish("v3")
    server.serve(world)
    _ = try visitor.pull(server)
    #expect(try visitor.state().successions.map(\.since) == [2])
    // It signs nothing behind the change, and so announces nothing.
    let own = SigningKey.generate(World.origin)
    var thief = world
    (thief.key, thief.since, thief.nextKey) = (first.key, 0, KeyRing.digest(of: own.key))
    thief.publish("v4")
    server.serve(thief)
    #expect(visitor.refusal(server) == .keyChange)
    // What it signed before stays good, pinned or from a mirror that is behind.
    server.serve(world)
    let mirror = Server("http://two.example/", first)
    #expect(try visitor.pull(mirror, server).release.note == world.newest)
    visitor.pinned = "v1"
    #expect(try visitor.pull(server).release.note == world.entries[0])
    #expect(visitor.alerts.isEmpty && visitor.faults.isEmpty)
  }
}
