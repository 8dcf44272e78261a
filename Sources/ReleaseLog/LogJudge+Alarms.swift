import Crypto
import Failure
import MerkleTree
import SignedNote

/// What is more than a source's fault, and the end of a run that found all well.
extension LogJudge {
  /// Files an alert.
  func file(_ alert: Alert) {
    if state.alerts.file(alert) { newAlerts.append(alert) }
  }

  /// Files an alert that ends the run. The head stays what it was.
  func alarm(_ alert: Alert) -> Outcome {
    file(alert)
    return .alarm(FetchFailure(alert.kind.category, alert.message, hint: alert.kind.advice))
  }

  func alarm(
    _ kind: Alert.Kind, release: Int64?, instance: String, _ message: String
  ) -> Outcome {
    alarm(
      Alert(kind, release: release, instance: instance, time: clock.wall(), message: message))
  }

  func fork(_ one: LogHead, _ other: LogHead, hashes: [Digest]) throws(FetchFailure) -> Outcome {
    try fork(
      try Evidence(
        smaller: one.size <= other.size ? one : other, larger: one.size <= other.size ? other : one,
        hashes: hashes))
  }

  func fork(_ evidence: Evidence) throws(FetchFailure) -> Outcome {
    let path = try store.keep(evidence: evidence.text, kind: "fork")
    return alarm(Alert(fork: evidence, path: path, time: clock.wall()))
  }

  /// A manifest that was signed and is not the entry of the log that it should be.
  ///
  /// - Returns: the end of the run, if it is fatal.
  func notLogged(_ offer: Offer, isFatal: Bool) -> Outcome? {
    let digest = SHA256.digest(offer.release.note)
    let message =
      "\(sources[offer.source].name) shows a signed manifest of release \(offer.index), and entry "
      + "\(offer.index) of the release log is another one"
    let outcome = alarm(
      .notLogged, release: offer.index, instance: "\(digest)", message)
    blame(offer.source, FetchFailure(.notLogged, message))
    return isFatal ? outcome : nil
  }

  // MARK: The end

  /// Takes over what was found, and says what there is to say.
  func conclude(_ found: Found, _ choice: Choice) throws(FetchFailure) -> Outcome {
    for release in [choice.release, choice.newest] {
      guard let kept = state.newest, kept.manifest.version == release.manifest.version,
        !kept.manifest.hasSameContent(as: release.manifest)
      else { continue }
      return alarm(
        .versionReused, release: release.manifest.release,
        instance: "\(kept.manifest.root) \(release.manifest.root)",
        "version \(release.manifest.version) was published with the root \(kept.manifest.root), and "
          + "now with the root \(release.manifest.root)")
    }
    if state.head == nil {
      events.append(
        .note(
          "first use of \(setup.origin) here: its release log is remembered at release "
            + "\(found.head.lastRelease), root \(found.head.root)",
          hint: nil))
    }
    for group in groups {
      let isKnown = state.seen.contains {
        $0.head.isSame(as: group.head) && $0.standing == .pending
      }
      for source in group.sources {
        let name = sources[source].name
        let isShownElsewhere =
          state.seen.contains { $0.head.isSame(as: group.head) && $0.peer != name }
          || source != group.sources[0]
        state.count(group.head, from: name, matches: isShownElsewhere)
      }
      if !isKnown {
        let isUncompared = found.uncompared.contains { $0.isSame(as: group.head) }
        note(group, isUncompared ? .pending : .proven)
      }
    }
    if found.isBehind {
      // Since when stays known until somebody shows all of it again.
    } else {
      (state.head, state.behindSince) = (found.head, nil)
      if let tree = found.tree { state.edge = tree.edge }
      state.lastCheck = clock.wall()
    }
    if choice.newest.manifest.release >= state.newest?.manifest.release ?? -1 {
      state.newest = choice.newest
    }
    checkTime(choice)
    checkWithheld(found)
    if refusal == nil {
      refusal = IntegrityRules.freshness(
        published: choice.newest.manifest.published.seconds, witnessed: found.witnessed,
        wall: clock.wall(), maximumAge: setup.maximumAge)
    }
    for index in sources.indices {
      guard let failure = failures[index] else { continue }
      state.blame(failure)
      events.append(.fault(failure))
    }
    return .accepted(choice)
  }

  private func checkTime(_ choice: Choice) {
    let published = choice.newest.manifest.published
    guard published.seconds > clock.wall() + LogState.clockTolerance else { return }
    events.append(
      .note(
        "warning: release \(choice.newest.manifest.release) was published at \(published.text), and "
          + "the local clock says \(UTCDate(seconds: clock.wall()).text)",
        hint: "check the clock of this machine"))
  }

  private func checkWithheld(_ found: Found) {
    for seen in IntegrityRules.withheld(state.seen, now: now) {
      let message =
        "\(seen.peer) showed \(seen.head.size) releases of \(setup.origin), and the sources show "
        + (seen.head.size > found.head.size
          ? "nothing that continues to there" : "nothing that proves the same of theirs")
      file(
        Alert(
          .withheld, release: seen.head.lastRelease,
          instance: "\(seen.head.size) \(seen.head.root)", time: clock.wall(), message: message))
      guard setup.witnesses.quorum > 0 || setup.maximumAge != nil else { continue }
      refusal = refusal ?? FetchFailure(.withheld, message, hint: Alert.Kind.withheld.advice)
    }
  }
}
