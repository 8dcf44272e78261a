import Crypto
import Failure
import MerkleTree
import ReleaseLog
import SignedNote
import TestSupport
import Testing

@Suite struct WitnessTests {
  @Test("a quorum asks for so many witnesses on the checkpoint")
  func quorum() throws {
    var world = World()
    world.publish("v1")
    let (visitor, server) = (Visitor(world), Server(world))
    let witnesses = ["one", "two", "three"].map { MadeWitness("\($0).example") }
    visitor.witnesses = WitnessPolicy(witnesses: witnesses.map(\.key), quorum: 2)
    let checkpoint = world.checkpoint()
    var note = world.signedCheckpoint()
    func add(_ witness: MadeWitness, at time: Int64? = nil) {
      note += witness.line(checkpoint, at: time ?? visitor.wall)
      server.put("checkpoint", note)
    }
    #expect(visitor.refusal(server) == .unknownKey)
    add(MadeWitness("stranger.example"))
    add(witnesses[0])
    let short = failure { () throws(FetchFailure) in _ = try visitor.pull(server) }
    #expect(short?.message.contains("cosigned by 1 of the 2 witnesses") == true)
    // A refused run leaves nothing behind.
    #expect(try visitor.state() == LogState(World.origin))
    add(witnesses[2])
    #expect(visitor.refusal(server) == nil)
    // Another source without them is to blame, and no more.
    #expect(visitor.refusal(Server("http://two.example/", world), server) == nil)
  }

  @Test("what counts: distinct keys that are no log key, at a time that can be")
  func counted() throws {
    var world = World()
    world.publish("v1")
    let now = World.start
    let (one, two) = (MadeWitness("one.example"), MadeWitness("two.example"))
    let seed = [UInt8](repeating: 9, count: 32)
    let (alias, other) = (
      MadeWitness("a.example", seed: seed), MadeWitness("b.example", seed: seed)
    )
    let policy = WitnessPolicy(witnesses: [one, two, alias, other].map(\.key))
    let checkpoint = world.checkpoint()
    func count(_ lines: [UInt8]...) throws(FetchFailure) -> WitnessPolicy.Count {
      try policy.count(
        world.signedCheckpoint() + lines.flatMap(\.self), logKeys: [world.key.key], wall: now)
    }
    #expect(try count() == .init(keys: 0, newest: nil))
    #expect(try count(one.line(checkpoint, at: now - 5)) == .init(keys: 1, newest: now - 5))
    #expect(
      try count(one.line(checkpoint, at: now), two.line(checkpoint, at: now - 9))
        == .init(keys: 2, newest: now))
    // One key under two names is one witness.
    #expect(
      try count(alias.line(checkpoint, at: now), other.line(checkpoint, at: now)).keys == 1)
    #expect(try count(one.line(checkpoint, at: 0)).keys == 0)
    #expect(try count(one.line(checkpoint, at: now + 86_400)).keys == 1)
    #expect(try count(one.line(checkpoint, at: now + 86_401)).keys == 0)
    #expect(try count(one.line(checkpoint, at: -1)).keys == 0)
    // A line of a known witness has to verify, and to be the only one.
    #expect(
      category { () throws(FetchFailure) in _ = try count(one.line(world.checkpoint(0), at: now)) }
        == .badSignature)
    let line = one.line(checkpoint, at: now)
    #expect(category { () throws(FetchFailure) in _ = try count(line, line) } == .noteMalformed)
    // The publisher cannot be its own witness.
    let self_ = NoteKey(
      name: "self.example", algorithm: .cosignature, publicKey: world.key.key.publicKey)!
    let trustsItself = WitnessPolicy(witnesses: [self_], quorum: 1)
    #expect(
      category { () throws(FetchFailure) in
        _ = try trustsItself.check(
          world.signedCheckpoint(), logKeys: [world.key.key], wall: now)
      } == .unknownKey)
  }

  @Test("a fresh cosignature is a sign of life")
  func freshness() throws {
    var world = World()
    world.publish("v1")
    let (visitor, server) = (Visitor(world), Server(world))
    let witness = MadeWitness("one.example")
    visitor.witnesses = WitnessPolicy(witnesses: [witness.key])
    visitor.maximumAge = 86_400
    visitor.pass(seconds: 10 * 86_400)
    #expect(visitor.refusal(server) == .expired)
    server.put(
      "checkpoint",
      world.signedCheckpoint() + witness.line(world.checkpoint(), at: visitor.wall - 60))
    #expect(visitor.refusal(server) == nil)
  }
}
