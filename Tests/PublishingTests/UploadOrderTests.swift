import Failure
import Manifest
import Publishing
import SignedNote
import TestSupport
import Testing

/// What has to be uploaded in which order, so that no client ever sees half of it.
@Suite struct UploadOrderTests {
  enum Case: CaseIterable {
    case first, newVersion, refresh, completed, completedByAnother, keyChange
  }

  private typealias Files = [String: [UInt8]]

  @Test(arguments: Case.allCases)
  func `every changed file is named once, and an upload may stop anywhere`(_ which: Case) throws {
    let (before, workshop, proofs) = try prepare(which)
    let after = ServedSite(try workshop.files(), proofs).files
    let order = try workshop.uploadOrder()
    let names = UploadOrder.Phase.allCases.flatMap { order.files[$0] ?? [] }
    let changed = after.filter { before[$0.key] != $0.value }.keys.sorted()
    #expect(names.sorted() == changed)
    for (phase, paths) in order.files {
      for path in paths {
        #expect(self.phase(of: path, isNew: before[path] == nil) == phase, "\(path)")
      }
    }
    #expect(names.last == "manifest")

    // A client sees the old release or the new one, wherever the upload stops.
    var uploaded = before
    let lag = which == .completedByAnother ? 2 : 1
    var newest: Set<Int64?> = []
    for path in [nil] + names.map(Optional.some) {
      if let path { uploaded[path] = after[path] }
      let disk = Dictionary(uniqueKeysWithValues: uploaded.map { ("/site/" + $0.key, $0.value) })
      let view = try ServedSite(disk, proofs, lag: lag).view()
      newest.insert(view.manifest?.release)
    }
    #expect(uploaded == after)
    #expect(newest.count == 2)
  }

  @Test func `a site that nothing was published to has no order`() throws {
    let workshop = try Workshop()
    try workshop.fileSystem.makeDirectories(Workshop.site, permissions: 0o777)
    let refusal = failure { () throws(FetchFailure) in _ = try workshop.uploadOrder() }
    #expect(refusal?.category == .unavailable)
    #expect(refusal?.hint?.contains("whole site") == true)
  }

  @Test(arguments: [Case.completed, .completedByAnother])
  func `what was completed once is not named for ever`(_ which: Case) throws {
    var (_, workshop, _) = try prepare(which)
    workshop.seconds += 10
    try workshop.publish("last", "three")
    let order = try workshop.uploadOrder()
    #expect(order.files[.releases] == ["releases/last/manifest", "releases/last/three"])
  }

  private func phase(of path: String, isNew: Bool) -> UploadOrder.Phase {
    if path.hasPrefix("tile/") { return .tile }
    if path == "checkpoint" { return .checkpoint }
    if path == "manifest" { return .manifests }
    return path.hasSuffix("/manifest") && !isNew ? .manifests : .releases
  }

  /// What is live, and the site that is to be uploaded.
  private func prepare(_ which: Case) throws -> (before: Files, Workshop, Proofs) {
    var workshop = try Workshop()
    let next = try workshop.key("second")
    let proofs = Proofs([try workshop.key("first"), next])
    if which != .first {
      try workshop.publish("v1", "one") { $0.nextKey = next }
      workshop.seconds += 10
    }
    let before = ServedSite(try workshop.files(), proofs).files
    switch which {
    case .first: try workshop.publish("v1", "one")
    case .newVersion: try workshop.publish("v2", "two")
    case .refresh: try workshop.refresh()
    case .keyChange:
      workshop.keys = ["/keys/second"]
      try workshop.publish("v2", "two")
    case .completed, .completedByAnother:
      // Killed where the first of it was put into place.
      workshop.fileSystem.onOperation = { [weak fileSystem = workshop.fileSystem] operation in
        if operation.path.hasPrefix("/site/tile") { fileSystem?.cutPower() }
      }
      #expect(
        category { () throws(FetchFailure) in try workshop.publish("v2", "two") } == .ioError)
      workshop = workshop.on(workshop.fileSystem.restart())
      workshop.seconds += 10
      if which == .completed {
        #expect(try workshop.publish("v2", "two").wasThere)
      } else {
        try workshop.publish("v3", "four")
      }
    }
    return (before, workshop, proofs)
  }
}
