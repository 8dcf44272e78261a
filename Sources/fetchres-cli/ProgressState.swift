import Download
import FetchResKit

/// How far a pull is, as it is shown. Pure: events and times go in.
struct ProgressState: Sendable {
  enum Phase: Sendable, Equatable {
    case starting
    case checkingLog
    /// On the clock that the events are given with.
    case waiting(until: Double)
    case startingTor(percent: Int?)
    case rehashing
    case fetching
    case finishing
  }

  /// The last component of the origin, and the version.
  private(set) var title = ""
  private(set) var phase = Phase.starting
  private(set) var progress: FetchEvent.Progress?
  /// Blocks that came from sources and did not verify.
  private(set) var refused = 0
  private(set) var average = SmoothedRate()
  /// What was fetched in this run, and what was there or came from this disk.
  var fetched: Int64 { progress.map { max(0, $0.verified - $0.resumed - $0.reused) } ?? 0 }
  var carriedOver: Int64 { progress.map { $0.resumed + $0.reused } ?? 0 }
  private(set) var map: BlockMap?

  mutating func take(_ event: FetchEvent, now: Double) {
    switch event {
    case .manifest(let origin, let version, _, _, _):
      title = "\(origin.split(whereSeparator: { "/:".contains($0) }).last ?? "") \(version)"
    case .begin(let version, _, _):
      // It may be an older one than the manifest told.
      title = "\(title.split(separator: " ").first ?? "") \(version)"
      phase = .fetching
    case .progress(let progress):
      take(progress, now: now)
    case .phase(.checkingLog): phase = .checkingLog
    case .phase(.waiting(let seconds)): phase = .waiting(until: now + seconds)
    case .phase(.startingTor(let percent)): phase = .startingTor(percent: percent)
    case .phase(.finishing): phase = .finishing
    case .blockRejected(_, wasOnDisk: false): refused += 1
    case .blockRejected(_, wasOnDisk: true), .sourceFailed, .alert, .unacknowledgedAlerts,
      .sources, .route, .note, .complete:
      break
    }
  }

  private mutating func take(_ progress: FetchEvent.Progress, now: Double) {
    self.progress = progress
    if let map = progress.map { self.map = map }
    average.tick(bytes: fetched, now: now)
    if let wait = progress.wait, wait.isFinite {
      phase = .waiting(until: now + wait)
    } else if progress.sources == 0, progress.unhashed > 0 {
      phase = .rehashing
    } else {
      phase = .fetching
    }
  }

  /// 0 to 100, and 100 only if nothing is missing.
  var percent: Int {
    guard let progress else { return 0 }
    guard progress.verified < progress.total else { return 100 }
    return max(0, min(99, Int(Double(progress.verified) / Double(progress.total) * 100)))
  }

  /// Seconds until all is there; nil if that cannot be told.
  var secondsLeft: Double? {
    guard let progress, let rate = average.rate, rate >= 1 else { return nil }
    let left = max(0, progress.total - progress.verified - progress.unhashed)
    return Double(left) / rate
  }
}
