import Download
import Failure

/// Which release a pull works on.
extension PullSession {
  /// The newest version is there already: nothing is asked for.
  func resultIfComplete(
    _ newest: AcceptedManifest, in directory: ResourceDirectory, _ lock: DirectoryLock, pinned: Bool
  ) throws(FetchFailure) -> PullResult? {
    let version = newest.manifest.version
    guard let complete = CompletedVersion(version, in: directory.directory) else { return nil }
    guard complete.manifest.hasSameContent(as: newest.manifest) else {
      throw FetchFailure(
        .versionReused,
        "version \(version) is complete here with the root \(complete.manifest.root), "
          + "and the publisher now gives it the root \(newest.manifest.root)",
        hint: "nothing was changed; ask the publisher which one is right")
    }
    // Whoever finished it may have been killed before its name was durable, or before it tidied up.
    try directory.sync()
    let work = PartialResource.name(of: complete.manifest)
    if directory.partialNames().contains(work) { try directory.removeUnfinished(work, lock) }
    if !pinned { try directory.setCurrent(version) }
    return try deliver(complete, in: directory, Work(), newer: newest.newerVersion)
  }

  /// The release to work on: the newest, or an older one that was begun.
  func choose(
    _ newest: AcceptedManifest, in directory: ResourceDirectory, _ expected: ExpectedOrigin,
    pinned: Bool
  ) throws(FetchFailure) -> AcceptedManifest {
    var begun: [AcceptedManifest] = []
    for unfinished in directory.unfinished() {
      guard let accepted = try? AcceptedManifest(unfinished.snapshot, expected) else { continue }
      let isSameVersion = accepted.manifest.version == newest.manifest.version
      if isSameVersion, !accepted.manifest.hasSameContent(as: newest.manifest) {
        throw FetchFailure(
          .versionReused,
          "version \(newest.manifest.version) was begun with the root \(accepted.manifest.root), "
            + "and the publisher now gives it the root \(newest.manifest.root)",
          hint: "nothing was changed; ask the publisher which one is right")
      }
      if !isSameVersion { begun.append(accepted) } else { return newest }
    }
    // Work that was left behind for a newer version, complete since then, stays behind: what is
    // available never goes back.
    let available = directory.available?.manifest.release ?? -1
    guard !pinned,
      let older = begun.filter({
        available < $0.manifest.release && $0.manifest.release < newest.manifest.release
      })
      .max(by: { $0.manifest.release < $1.manifest.release }),
      CompletedVersion(older.manifest.version, in: directory.directory) == nil
    else { return newest }
    switch request.onNewVersion {
    case .continue:
      // What has expired can never be finished.
      do throws(FetchFailure) { try older.checkExpiry(now: now()) } catch {
        report(.note("\(error.message); fetching version \(newest.manifest.version)", hint: nil))
        return newest
      }
      return older
    case .stop:
      throw FetchFailure(
        .newVersion,
        "version \(newest.manifest.version) is there, and \(older.manifest.version) is unfinished",
        hint: "run with --on-new-version continue or switch")
    case .switch:
      return newest
    }
  }
}
