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
    let soonest = sources.indices.filter { isUsable($0, now: now) && canGiveSomething($0) }.map {
      max(now, sources[$0].notBefore)
    }.min()
    guard let soonest else {
      failure = reason ?? FetchFailure(.unreachable, "there is no source left to ask")
      return
    }
    guard soonest - max(lastProgress, lastArrival) > policy.giveUpAfter else { return }
    var failure = reason ?? FetchFailure(.unreachable, "every source is waiting after failures")
    let wait = Int((soonest - now).rounded(.up))
    failure.hint =
      failure.hint
      ?? "the next attempt would be in \(wait) s, later than --give-up-after allows; "
      + "run again to resume, or with --retry-now to ask at once"
    self.failure = failure
  }

  /// The failure that speaks for all: what may pass if a source failed in no other way, since then
  /// running again may help; else the last one.
  private var reason: FetchFailure? {
    if let passing = sources.filter(\.failedInPassing).compactMap(\.lastFailure).last {
      return passing
    }
    return sources.compactMap(\.lastRefusal).last
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
