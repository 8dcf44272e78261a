import Failure
import Publishing
import SignedNote
import Storage
import TestSupport
import Testing

/// Ends what else a publisher does at every operation, by power cut and by kill. Clients must see the
/// previous release or the new one, whole; a rerun finishes what was begun; no key ever signs two
/// histories.
@Suite struct ModesPowerTests {
  enum Case: CaseIterable {
    /// The newest version is signed again: by the same key, by two, by the one that was announced.
    case refresh, cosignedRefresh, keyChangingRefresh
    /// A rerun of these changes nothing more.
    case prune, recoverLost, recoverRestored, recoverDamaged

    var pruned: Set<String> {
      switch self {
      case .prune, .recoverLost: ["old"]
      case .refresh, .cosignedRefresh, .keyChangingRefresh, .recoverRestored, .recoverDamaged: []
      }
    }

    var isRefresh: Bool {
      switch self {
      case .refresh, .cosignedRefresh, .keyChangingRefresh: true
      case .prune, .recoverLost, .recoverRestored, .recoverDamaged: false
      }
    }

    var isRecovery: Bool { !isRefresh && self != .prune }
  }

  private struct State: Hashable {
    var disk: Int
    var served: Set<Checkpoint>
    var unsynced: [String]
  }

  @Test(arguments: Case.allCases)
  func `wherever it ends, the site is whole and a rerun completes it`(_ which: Case) throws {
    let scene = try Scene(which)
    let before = try? scene.view(scene.start)
    var served: [Int?: SignedCheckpoints] = [:]
    var examined = 0
    var seen: Set<State> = []
    var search = PowerCutSearch(seeds: 1)
    try search.run(from: scene.start.fileSystem) { fileSystem in
      try scene.work(scene.start.on(fileSystem))
    } examine: { fileSystem, end in
      var workshop = scene.start.on(fileSystem)
      workshop.seconds += 1
      let files = try workshop.files()
      var signed = SignedCheckpoints(scene.proofs)
      if end.kind == .kill {
        signed.collectServed(files)
        served[end.operation] = signed
      } else {
        signed = try #require(served[end.operation])
      }
      let state = State(
        disk: try fileSystem.fingerprint(), served: signed.checkpoints,
        unsynced: fileSystem.unsyncedEffects)
      guard seen.insert(state).inserted || end.isComplete else { return }
      examined += 1
      signed.collect(files)
      do {
        try scene.expectWhole(workshop, before, end)
        // Every other rerun publishes something else, which completes what was recorded.
        let isSame = end.isComplete || examined % 2 == 0
        try scene.rerun(workshop, isSame: isSame)
        #expect(workshop.bytes("/site/.publish/recovery/data") == nil, "\(end)")
        try scene.expectComplete(workshop, isSame: isSame, &signed, end)

        // A kill leaves the machine running: what the rerun did has to survive a power cut too.
        if workshop.fileSystem.unsyncedEffects.isEmpty { return }
        for outcome in [MemoryFileSystem.Survivors.nothingUnsynced, .seeded(0)] {
          let after = workshop.on(workshop.fileSystem.crash(survivors: outcome))
          try scene.expectComplete(after, isSame: isSame, &signed, end)
        }
      } catch { Issue.record(error, "\(end)") }
    }
    #expect(search.points > (which == .prune ? 15 : 50))
    #expect(search.states > (which == .prune ? 60 : 200))
  }

  /// What was worked out before.
  private final class Verifications {
    private var summaries: [Int: LogVerification.Summary] = [:]

    func summary(of workshop: Workshop) throws -> LogVerification.Summary {
      let disk = try workshop.fileSystem.fingerprint()
      if let known = summaries[disk] { return known }
      let summary = try workshop.verifyLog()
      summaries[disk] = summary
      return summary
    }
  }

  /// A machine, what is done on it, and what has to come of it.
  private struct Scene {
    let which: Case
    private(set) var start: Workshop
    let proofs: Proofs
    /// What a mirror serves, and how many releases it has.
    private var mirror: [String: [UInt8]] = [:]
    private var releases = 0
    private let verifications = Verifications()

    init(_ which: Case) throws {
      self.which = which
      var workshop = try Workshop()
      if which == .cosignedRefresh { workshop.keys.append("/keys/second") }
      let next = try workshop.key("second")
      try workshop.publish("old", "one") {
        if which == .keyChangingRefresh { $0.nextKey = next }
      }
      workshop.seconds += 10
      let backup = try workshop.files(below: Workshop.site)
      if which.isRecovery {
        // The back-up has one release of `old`, which was refreshed since.
        try workshop.refresh()
        workshop.seconds += 10
      }
      try workshop.publish("new", "four")
      releases = which.isRecovery ? 3 : 2
      if which == .keyChangingRefresh { workshop.keys = ["/keys/second"] }
      workshop.seconds += 10
      proofs = Proofs(
        try (which.isRecovery ? ["first"] : ["first", "second"]).map { try workshop.key($0) })
      mirror = ServedSite(try workshop.files(), proofs).files
      switch which {
      case .refresh, .cosignedRefresh, .keyChangingRefresh, .prune: break
      case .recoverLost:
        try workshop.remove(Workshop.site)
      case .recoverRestored:
        try workshop.remove(Workshop.site)
        for (path, bytes) in backup { try workshop.put(path, bytes) }
      case .recoverDamaged:
        try workshop.put("/site/releases/new/four", [1, 2, 3])
      }
      start = workshop.on(workshop.fileSystem.copy())
    }

    func view(_ workshop: Workshop) throws -> ServedSite.View {
      try ServedSite(workshop.files(), proofs, pruned: which.pruned, lag: which.isRecovery ? 3 : 1)
        .view()
    }

    func work(_ workshop: Workshop) throws(FetchFailure) {
      switch which {
      case .refresh, .cosignedRefresh, .keyChangingRefresh: try workshop.refresh()
      case .prune: try workshop.prune("old")
      case .recoverLost, .recoverRestored, .recoverDamaged: try workshop.recover(from: mirror)
      }
    }

    /// A publish can only follow where the site is that of the key again.
    func rerun(_ workshop: Workshop, isSame: Bool) throws(FetchFailure) {
      if isSame { return try work(workshop) }
      if which.isRecovery { try work(workshop) }
      try workshop.publish("other", "three")
    }

    func expectWhole(
      _ workshop: Workshop, _ before: ServedSite.View?, _ end: PowerCutSearch.End
    ) throws {
      let site = ServedSite(
        try workshop.files(), proofs, pruned: which.pruned, lag: which.isRecovery ? 3 : 1)
      // Damaged data are no release that could stay whole.
      if which == .recoverDamaged, !end.isComplete {
        #expect(site.files["manifest"] == mirror["manifest"], "\(end)")
        return
      }
      let view = try site.view()
      if end.isComplete {
        let count = releases + (which.isRefresh ? 1 : 0)
        #expect(view.entries.count == count, "\(end)")
        #expect(view.manifest?.release == Int64(count - 1), "\(end)")
      } else {
        #expect(view.manifest == before?.manifest || view.manifest?.version == "new", "\(end)")
      }
      if which == .prune {
        #expect(
          site.files["releases/old/manifest"] == mirror["releases/old/manifest"], "\(end)")
        #expect(!end.isComplete || site.files["releases/old/one"] == nil, "\(end)")
      }
    }

    func expectComplete(
      _ workshop: Workshop, isSame: Bool, _ signed: inout SignedCheckpoints,
      _ end: PowerCutSearch.End
    ) throws {
      let files = try workshop.files()
      let view = try view(workshop)
      #expect(view.manifest?.version == (isSame ? "new" : "other"), "\(end)")
      #expect(view.manifest?.release == Int64(view.entries.count - 1), "\(end)")
      #expect(view.entries.count >= releases, "\(end)")
      #expect(view.entries.count <= releases + (which.isRefresh ? 2 : isSame ? 0 : 1), "\(end)")
      #expect(files["/site/.publish/transaction"] == nil, "\(end)")
      var whole = workshop
      if files["/site/releases/old/one"] == nil,
        (try? workshop.fileSystem.openDirectory("/site/releases/old/tile")) != nil
      {
        // What a killed prune left is neither there nor pruned, until it is pruned again.
        #expect(which == .prune && !isSame, "\(end)")
        #expect(
          category { () throws(FetchFailure) in _ = try workshop.verifyLog() } == .blockMismatch)
        whole = workshop.on(workshop.fileSystem.copy())
        try whole.prune("old")
      }
      let summary = try verifications.summary(of: whole)
      #expect(summary.releases == Int64(view.entries.count), "\(end)")
      #expect(summary.pruned == (isPruned(isSame, files) ? ["old"] : []), "\(end)")
      signed.collect(files)
      #expect(signed.belong(to: view.entries), "\(end)")
    }

    private func isPruned(_ isSame: Bool, _ files: [String: [UInt8]]) -> Bool {
      switch which {
      case .refresh, .cosignedRefresh, .keyChangingRefresh, .recoverRestored, .recoverDamaged:
        false
      case .recoverLost: true
      case .prune: isSame || files["/site/releases/old/one"] == nil
      }
    }
  }
}
