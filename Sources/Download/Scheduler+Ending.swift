import Failure

/// When a run has to end without all blocks, and with which failure.
extension Scheduler {
  mutating func endIfSilent(now: Double) {
    guard now - max(lastProgress, lastArrival) >= policy.giveUpAfter else { return }
    let idle = "no block was verified for \(Int(policy.giveUpAfter)) s"
    let known = reason
    var last = known ?? FetchFailure(.stalled, idle)
    last.hint =
      last.hint ?? (known == nil ? "run again to resume" : "\(idle); run again to resume")
    failure = last
  }

  /// Ends the run if no source can be asked for what is missing while the patience lasts.
  mutating func endIfHopeless(now: Double) {
    guard let failure = hopelessness(now: now), !releaseHeld(now: now) else { return }
    self.failure = failure
  }

  /// Lets sources be asked that gave wrong bytes, where nobody else can finish: every block proves
  /// itself.
  ///
  /// - Returns: whether there are any.
  mutating func releaseHeld(now: Double) -> Bool {
    let held = sources.indices.filter { sources[$0].isLeft && sources[$0].isHeld(now: now) }
    for source in held { sources[source].release() }
    if !held.isEmpty { hasChanged = true }
    return !held.isEmpty
  }

  private func hopelessness(now: Double) -> FetchFailure? {
    let soonest = sources.indices.filter { isUsable($0, now: now) && canGiveSomething($0) }.map {
      max(now, sources[$0].notBefore)
    }.min()
    guard let soonest else {
      return reason ?? FetchFailure(.unreachable, "there is no source left to ask")
    }
    guard soonest - max(lastProgress, lastArrival) > policy.giveUpAfter else { return nil }
    var failure = reason ?? FetchFailure(.unreachable, "every source is waiting after failures")
    let wait = Int((soonest - now).rounded(.up))
    failure.hint =
      failure.hint
      ?? "the next attempt would be in \(wait) s, later than --give-up-after allows; "
      + "run again to resume, or with --retry-now to ask at once"
    return failure
  }

  /// The failure that speaks for all: what may pass if a source failed in no other way, since then
  /// running again may help; else the last one.
  private var reason: FetchFailure? {
    let refusing = sources.indices.filter { isRefusalStanding($0) }
    let passing = sources.indices.filter { !refusing.contains($0) }
      .compactMap { sources[$0].lastPassing }
    return passing.last ?? refusing.compactMap { sources[$0].lastRefusal }.last
  }

  /// Whether what a source refused is still to be had: what was got meanwhile ends no run.
  private func isRefusalStanding(_ source: SourceID) -> Bool {
    sources[source].end != nil || attempts.values.contains { $0[source] != nil }
      || tileAttempts.values.contains { $0[source] != nil }
  }

  /// Whether a source may be asked for anything in this run, at some time.
  func isUsable(_ source: SourceID, now: Double) -> Bool {
    sources[source].isLeft
      && (!sources[source].isHeld(now: now) || isOnlyOneLeft(source, now: now))
  }

  /// Whether all others are gone, or held themselves.
  func isOnlyOneLeft(_ source: SourceID, now: Double) -> Bool {
    sources.indices.allSatisfy {
      $0 == source || !sources[$0].isLeft || sources[$0].isHeld(now: now)
    }
  }

  /// Whether something is missing that this source has not failed to give too often.
  private func canGiveSomething(_ source: SourceID) -> Bool {
    let suspects = attempts.keys.filter { missing.contains($0) }
    return missing.count > suspects.count || missing.isEmpty
      || suspects.contains { (attempts[$0]?[source] ?? 0) < policy.attemptsPerBlock }
  }
}
