import Failure
import Manifest
import Publishing
import SignedNote
import Storage
import TestSupport
import Testing

/// A publish whose checkpoint waits for witnesses.
@Suite struct HoldingTests {
  let witness = MadeWitness("witness.example")

  /// The checkpoint that the key signed last, with a cosignature.
  func cosigned(_ workshop: Workshop) throws -> [UInt8] {
    let held = try #require(workshop.bytes("/keys/first.head"))
    let checkpoint = try Checkpoint(try SignedNote(held).verify([try workshop.key("first")]))
    return held + witness.line(checkpoint, at: workshop.seconds)
  }

  @Test func `a held checkpoint is served with what was added, and nothing passes it`() throws {
    var workshop = try Workshop()
    try workshop.publish("v1")
    let before = try workshop.files(below: "/site")
    workshop.seconds += 1
    let result = try workshop.publish("v2", "two") { $0.holdsCheckpoint = true }
    #expect(result.heldCheckpoint == workshop.bytes("/keys/first.head"))
    for path in ["/site/checkpoint", "/site/manifest"] {
      #expect(workshop.bytes(path) == before[path])
    }
    #expect(workshop.bytes("/site/releases/v2/two") != nil)
    #expect(workshop.bytes("/site/tile/0/000.p/2") != nil)
    #expect(try workshop.uploadOrder().files[.checkpoint] == nil)
    #expect(category { () throws(FetchFailure) in try workshop.publish("v3") } == .usage)
    #expect(category { () throws(FetchFailure) in try workshop.refresh() } == .usage)
    #expect(category { () throws(FetchFailure) in try workshop.prune("v1") } == .usage)
    #expect(category { () throws(FetchFailure) in try workshop.abandon() } == .usage)

    let cosigned = try cosigned(workshop)
    let held = try #require(result.heldCheckpoint)
    let old = try #require(before["/site/checkpoint"])
    for wrong in [old, [], Array(cosigned.dropFirst()), Array(held.dropLast(4))] {
      #expect(category { () throws(FetchFailure) in try workshop.release(wrong) } == .usage)
    }
    #expect(try workshop.release(cosigned).version == "v2")
    #expect(workshop.bytes("/site/checkpoint") == cosigned)
    #expect(try workshop.uploadOrder().files[.checkpoint] == ["checkpoint"])
    #expect(try workshop.verifyLog().releases == 2)
    #expect(category { () throws(FetchFailure) in try workshop.release(cosigned) } == .usage)
    // A later one does not take what was released before.
    workshop.seconds += 1
    #expect(try workshop.refresh { $0.holdsCheckpoint = true }.heldCheckpoint != nil)
    #expect(workshop.bytes("/site/checkpoint") == cosigned)
    try workshop.release(try self.cosigned(workshop))
    #expect(try workshop.verifyLog().releases == 3)
  }

  @Test func `a held checkpoint is given again, and nothing is changed`() throws {
    var workshop = try Workshop()
    try workshop.publish("v1")
    workshop.seconds += 1
    let held = try workshop.publish("v2", "two") { $0.holdsCheckpoint = true }.heldCheckpoint
    let before = try workshop.files()
    workshop.seconds += 1
    for result in [
      try workshop.publish("v2", "two") { $0.holdsCheckpoint = true },
      try workshop.refresh { $0.holdsCheckpoint = true },
    ] {
      #expect(result.wasThere && result.manifest.version == "v2")
      #expect(result.heldCheckpoint == held && held != nil)
    }
    // Whoever wants something else is told where it is.
    for refusal in [
      failure { () throws(FetchFailure) in try workshop.publish("v2", "two") },
      failure { () throws(FetchFailure) in
        try workshop.publish("v3", "two") { $0.holdsCheckpoint = true }
      },
      failure { () throws(FetchFailure) in try workshop.refresh() },
    ] {
      #expect(refusal?.category == .usage)
      #expect(refusal?.hint?.contains("--refresh --hold-checkpoint") == true)
    }
    #expect(
      category { () throws(FetchFailure) in
        try workshop.publish("v2", "one") { $0.holdsCheckpoint = true }
      } == .versionReused)
    #expect(try workshop.files() == before)
    try workshop.release(try cosigned(workshop))
    #expect(try workshop.verifyLog().releases == 2)
  }

  @Test func `wherever it ends, clients see one release whole, and it can be finished`() throws {
    var start = try Workshop()
    try start.publish("v1")
    let old = start.bytes("/site/checkpoint")
    start.seconds += 1
    var search = PowerCutSearch(seeds: 2)
    try search.run(from: start.fileSystem) { fileSystem in
      let workshop = start.on(fileSystem)
      try workshop.publish("v2", "two") { $0.holdsCheckpoint = true }
      try workshop.release(try cosigned(workshop))
    } examine: { fileSystem, end in
      let workshop = start.on(fileSystem)
      let served = try #require(workshop.bytes("/site/checkpoint"))
      let isOld = served == old
      #expect(
        isOld || String(decoding: served, as: UTF8.self).contains("witness.example"), "\(end)")
      // Whoever goes on publishes again, or releases what is held.
      let again = failure { () throws(FetchFailure) in
        try workshop.publish("v2", "two") { $0.holdsCheckpoint = true }
      }
      #expect(again == nil || again?.category == .usage, "\(end)")
      if workshop.bytes("/site/checkpoint") == old {
        try workshop.release(try cosigned(workshop))
      }
      #expect(try workshop.verifyLog().releases == 2, "\(end)")
      let final = try #require(workshop.bytes("/site/checkpoint"))
      #expect(final == (try cosigned(workshop)), "\(end)")
    }
    #expect(search.points > 20)
  }
}
