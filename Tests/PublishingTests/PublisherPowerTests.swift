import Failure
import Publishing
import SignedNote
import Storage
import TestSupport
import Testing

/// Ends a publish at every operation, by power cut and by kill. Clients must see the previous release
/// or the new one, whole; a rerun must finish what was begun; and no key may ever have signed two
/// histories.
@Suite struct PublisherPowerTests {
  /// One release, or a second one behind it, with one key or two.
  enum Case: CaseIterable {
    case first, second, cosigned, linked, keyChange
    /// The record of the key is lost.
    case headless
  }

  private struct State: Hashable {
    var disk: Int
    var served: Set<Checkpoint>
  }

  // covers: F36
  @Test(arguments: Case.allCases)
  func `wherever a publish ends, the site is whole and a rerun completes it`(
    _ which: Case
  ) throws {
    let (start, keys) = try prepare(which)
    let publish: (Workshop) throws(FetchFailure) -> PublishResult = {
      workshop throws(FetchFailure) in
      try workshop.publish("new", which == .second ? "two" : "one") {
        $0.links = which == .linked
      }
    }
    let proofs = Proofs(try keys.map { try start.key($0) })
    let before = try ServedSite(start.files(), proofs).view()

    var served: [Int?: SignedCheckpoints] = [:]
    var examined = 0
    var seen: Set<State> = []
    var search = PowerCutSearch(seeds: which == .second ? 4 : 1)
    try search.run(from: start.fileSystem) { fileSystem in
      _ = try publish(start.on(fileSystem))
    } examine: { fileSystem, end in
      var workshop = start.on(fileSystem)
      // The clock has moved on, so that what is signed again is something else.
      workshop.seconds += 1
      let files = try workshop.files()
      var signed = SignedCheckpoints(proofs)
      if end.kind == .kill {
        signed.collectServed(files)
        served[end.operation] = signed
      } else {
        signed = try #require(served[end.operation])
      }
      // What survives is often what survived before, and is durable all of it.
      if end.kind != .kill,
        !seen.insert(
          State(disk: try fileSystem.fingerprint(), served: signed.checkpoints)
        ).inserted
      {
        return
      }
      examined += 1
      signed.collect(files)
      do {
        let view = try ServedSite(files, proofs).view()
        #expect(view.manifest == before.manifest || view.manifest?.version == "new", "\(end)")
        #expect(!end.isComplete || view.manifest?.version == "new", "\(end)")

        // Every other rerun is the publish of something else, which completes what was recorded.
        let isSame = end.isComplete || examined % 2 == 0
        if isSame {
          let result = try publish(workshop)
          #expect(result.manifest.version == "new", "\(end)")
        } else {
          try workshop.publish("other", "four")
        }
        try expectComplete(workshop, proofs, isSame ? "new" : "other", before, &signed, end)

        // A kill leaves the machine running: what the rerun did has to survive a power cut too.
        let outcomes: [MemoryFileSystem.Survivors] =
          end.kind == .kill
          ? [.nothingUnsynced, .everything, .seeded(1), .seeded(2)] : [.nothingUnsynced]
        for outcome in outcomes {
          let after = workshop.on(workshop.fileSystem.crash(survivors: outcome))
          try expectComplete(after, proofs, isSame ? "new" : "other", before, &signed, end)
        }
      } catch { Issue.record(error, "\(end)") }
    }
    #expect(search.points > 90)
    #expect(search.states > 400)
    #expect(examined > 120 || Sanitizer.isThere)
  }

  @Test func `a rerun that ends as well is completed by the next`() throws {
    var start = try Workshop()
    try start.publish("old", "one")
    start.seconds += 10
    let proofs = Proofs([try start.key("first")])
    // Killed where the record is there and nothing was moved yet.
    let recording = start.on(start.fileSystem.copy())
    recording.fileSystem.onOperation = { [weak fileSystem = recording.fileSystem] operation in
      if operation.path.hasSuffix("first.head.new") { fileSystem?.cutPower() }
    }
    #expect(
      category { () throws(FetchFailure) in try recording.publish("new", "four") } == .ioError)
    let half = recording.on(recording.fileSystem.restart())
    #expect(half.bytes("/site/.publish/transaction") != nil)
    #expect(try ServedSite(half).view().versions == ["old"])

    // Whatever the next one is asked for, and be it impossible.
    for hasKey in [true, false] {
      let other = half.on(half.fileSystem.copy())
      let refusal = category { () throws(FetchFailure) in
        try other.publish("other", "nowhere") { if !hasKey { $0.keyFiles = ["/keys/none"] } }
      }
      #expect(refusal == .usage)
      #expect(other.bytes("/site/.publish/transaction") == nil)
      #expect(try ServedSite(other.files(), proofs).view().versions == ["old", "new"])
    }

    var search = PowerCutSearch(seeds: 2)
    try search.run(from: half.fileSystem) { fileSystem in
      try half.on(fileSystem).publish("new", "four")
    } examine: { fileSystem, end in
      let workshop = half.on(fileSystem)
      do {
        _ = try ServedSite(workshop.files(), proofs).view()
        try workshop.publish("new", "four")
        let after = workshop.on(fileSystem.crash(survivors: .nothingUnsynced))
        #expect(try ServedSite(after.files(), proofs).view().versions == ["old", "new"], "\(end)")
      } catch { Issue.record(error, "\(end)") }
    }
    #expect(search.points > 40)
    #expect(search.states > 200)
  }

  private func prepare(_ which: Case) throws -> (Workshop, keys: [String]) {
    var workshop = try Workshop()
    switch which {
    case .first, .linked:
      return (workshop, ["first"])
    case .second:
      try workshop.publish("old", "one")
      workshop.seconds += 10
      return (workshop, ["first"])
    case .headless:
      try workshop.publish("old", "one")
      try workshop.remove("/keys/first.head")
      try workshop.fileSystem.openDirectory("/keys").sync()
      workshop.seconds += 10
      return (workshop, ["first"])
    case .cosigned:
      workshop.keys = ["/keys/first", "/keys/second"]
      try workshop.publish("old", "one")
      workshop.seconds += 10
      return (workshop, ["first", "second"])
    case .keyChange:
      let next = try workshop.key("second")
      try workshop.publish("old", "one") { $0.nextKey = next }
      workshop.keys = ["/keys/second"]
      workshop.seconds += 10
      return (workshop, ["first", "second"])
    }
  }

  private func expectComplete(
    _ workshop: Workshop, _ proofs: Proofs, _ version: String, _ before: ServedSite.View,
    _ signed: inout SignedCheckpoints, _ end: PowerCutSearch.End
  ) throws {
    let files = try workshop.files()
    let view = try ServedSite(files, proofs).view()
    #expect(view.manifest?.version == version, "\(end)")
    #expect(Int64(view.entries.count) == (view.manifest?.release ?? 0) + 1, "\(end)")
    #expect(view.entries.starts(with: before.entries), "\(end)")
    #expect(view.entries.count <= before.entries.count + 2, "\(end)")
    #expect(files["/site/.publish/transaction"] == nil, "\(end)")
    signed.collect(files)
    #expect(signed.belong(to: view.entries), "\(end)")
  }
}
