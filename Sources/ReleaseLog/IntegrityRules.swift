import Failure
import SignedNote

/// Decisions of the monitor that need no network: values in, a verdict out.
package enum IntegrityRules {
  /// How a run ends where every source failed: trust refused if everyone who was reached said so;
  /// else what running again may help; else what was wrong. Of several alike, the first source's.
  ///
  /// - Parameter failures: one for each source that failed, in their order.
  package static func end(of failures: [FetchFailure]) -> FetchFailure {
    guard !failures.isEmpty else {
      return FetchFailure(.stale, "the release log holds no release that this fetchres can use")
    }
    let reached = failures.filter { $0.exitCode != 3 }
    if let first = reached.first, reached.allSatisfy({ $0.exitCode == 5 }) { return first }
    return failures.first { $0.exitCode == 3 } ?? failures[0]
  }

  /// What is to be done about a view in which every source shows less than the kept head.
  package enum Behind: Sendable, Hashable {
    /// Ask again, past caches.
    case askAgain(atOnce: Bool)
    /// The sources are behind; go on with what is kept.
    case stale
    /// Somebody hides what was there.
    case rollback
  }

  /// - Parameters:
  ///   - since: when it was first seen; nil for now.
  ///   - repeats: how often all were asked again in this run.
  package static func behind(since: Moment?, now: Moment, repeats: Int) -> Behind {
    guard let since, since.isLongBefore(now) else {
      return repeats == 0 ? .askAgain(atOnce: true) : .stale
    }
    return repeats < LogMonitor.askingAgain.count ? .askAgain(atOnce: false) : .rollback
  }

  /// The heads of `seen` that nobody has shown to belong to the same log for longer than caches may be
  /// out of step: they are ahead of every source, or tiles to compare them with are kept back.
  package static func withheld(_ seen: [SeenHead], now: Moment) -> [SeenHead] {
    seen.filter { $0.standing == .pending && $0.firstSeen.isLongBefore(now) }
  }

  /// Why the newest sign of life is too old; nil if it is not.
  ///
  /// - Parameters:
  ///   - published: of the newest release, seconds since 1970.
  ///   - witnessed: the newest counted cosignature of its checkpoint.
  package static func freshness(
    published: Int64, witnessed: Int64?, wall: Int64, maximumAge: Int64?
  ) -> FetchFailure? {
    guard let maximumAge else { return nil }
    let newest = max(published, witnessed ?? published)
    // A sign from the future says nothing about the age; that it is one, is said elsewhere.
    let age = wall.subtractingReportingOverflow(newest).partialValue
    guard age > maximumAge else { return nil }
    let sign = witnessed.map { $0 > published } == true ? "cosignature" : "release"
    return FetchFailure(
      .expired,
      "the newest \(sign) is of \(UTCDate(seconds: newest).text), more than --max-age ago; the local "
        + "clock says \(UTCDate(seconds: wall).text)",
      hint:
        "if the clock is right, no server shows anything newer: try another network, or a longer "
        + "--max-age")
  }
}
