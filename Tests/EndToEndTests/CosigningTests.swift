import Crypto
import Failure
import MerkleTree
import SignedNote
import System
import Testing

/// The whole way of a checkpoint through a witness.
@Suite struct CosigningTests {
  /// What a publisher sends to a witness: the proof comes from the log tiles of the site.
  static func request(_ bench: Workbench, old: Int64, _ checkpoint: [UInt8]) throws -> [UInt8] {
    let key = try #require(NoteKey(bench.site.key))
    let head = try Checkpoint(try SignedNote(checkpoint).verify([key]))
    var proof: [Digest] = []
    if old > 0 {
      var tree = try AuthenticatedTree(count: head.size, root: head.root)
      proof = try tree.consistencyProof(from: old) { address throws(FetchFailure) in
        let bytes = try? Disk.read("\(bench.site.path)/\(address.path)")
        return try SuspectTile(address, bytes ?? [])
      }
    }
    let lines = ["old \(old)"] + proof.map { Base64.encode($0.bytes) }
    return Array(lines.map { $0 + "\n" }.joined().utf8) + [0x0A] + checkpoint
  }

  /// Asks the witness; the checkpoint with what it answered, or the status.
  static func cosigned(
    _ bench: Workbench, _ witness: WitnessServer, old: Int64, _ checkpoint: [UInt8]
  ) throws -> [UInt8] {
    let body = try bench.scratch.write("body", try request(bench, old: old, checkpoint))
    let curl = try Child(
      "/usr/bin/env",
      [
        "curl", "-sS", "--fail", "--noproxy", "*", "--data-binary", "@\(body)",
        "\(witness.base)/add-checkpoint",
      ], environment: bench.fetchres.environment)
    let answer = try Outcome(of: curl)
    answer.expect(0)
    return checkpoint + answer.bytes
  }

  @Test("a checkpoint is held, cosigned, released, and counts for a quorum")
  func wholeWay() throws {
    let bench = try Workbench()
    let witness = try WitnessServer(try #require(NoteKey(bench.site.key)))
    try bench.fetchres.run("trust", "witness", "add", "\(witness.witness.key)").expect(0)
    try bench.fetchres.run("trust", "quorum", "1").expect(0)
    for (old, version) in ["v1", "v2", "v3"].enumerated() {
      let input = try bench.scratch.write("in-\(version)", randomBytes(1_000))
      let held = try bench.fetchres.run(
        bench.site.publishing(input, version: version, ["--hold-checkpoint"]))
      held.expect(0)
      #expect(held.error.contains("it is not live yet"))
      // Clients still see what was there; what witnesses check is in place.
      #expect(Disk.exists("\(bench.site.path)/tile/0/000.p/\(old + 1)"))
      #expect((try? Disk.read("\(bench.site.path)/checkpoint")) != held.bytes)
      let other = try bench.scratch.write("other", randomBytes(1_000))
      try bench.fetchres.run(bench.site.publishing(other, version: "x")).expectRefusal(2, "is held")
      try bench.mode("--abandon").expect(2)
      // Who lost what was printed gets it again.
      for again in [
        try bench.fetchres.run(
          bench.site.publishing(input, version: version, ["--hold-checkpoint"])),
        try bench.refresh("--hold-checkpoint"),
      ] {
        again.expect(0)
        #expect(again.bytes == held.bytes && again.error.contains("is held already"))
      }

      let cosigned = try Self.cosigned(bench, witness, old: Int64(old), held.bytes)
      let file = try bench.scratch.write("cosigned", cosigned)
      let wrong = try bench.scratch.write("wrong", randomBytes(100))
      try bench.mode("--release-checkpoint", wrong).expectRefusal(
        2, "not the checkpoint that is held")
      try bench.mode("--release-checkpoint", file).expect(0)
      #expect(try Disk.read("\(bench.site.path)/checkpoint") == cosigned)
      try bench.mode("--release-checkpoint", file).expectRefusal(2, "no checkpoint is held")
      try bench.pull().expect(0)
      #expect(try bench.path()?.hasSuffix("/\(version)/in-\(version)") == true)
      try bench.verifyLog().expect(0)
    }
    // Without the witness nothing newer is believed.
    try bench.site.publish(randomBytes(1_000), version: "v4")
    try bench.pull("--json").expectFailure("unknown-key", 5, "cosigned by 0 of the 1 witnesses")
    try bench.fetchres.run("trust", "quorum", "0").expect(0)
    try bench.pull().expect(0)
  }

  @Test("a witness cosigns no log that does not continue the last")
  func refuses() throws {
    let bench = try Workbench()
    let key = try #require(NoteKey(bench.site.key))
    let witness = try WitnessServer(key)
    try bench.site.publish(randomBytes(1_000))
    try bench.site.publish(randomBytes(1_000), version: "v2")
    let checkpoint = try Disk.read("\(bench.site.path)/checkpoint")
    var state = WitnessServer.State()
    func status(_ old: Int64) throws -> Int {
      let body = try Self.request(bench, old: old, checkpoint)
      return WitnessServer.answer(body, key, witness.witness, &state).status
    }
    #expect(try status(1) == 409)
    #expect(try status(0) == 200)
    #expect(try status(0) == 409)
    state.size = 1
    #expect(try status(1) == 422)
    #expect(WitnessServer.answer([], key, witness.witness, &state).status == 400)
  }
}
