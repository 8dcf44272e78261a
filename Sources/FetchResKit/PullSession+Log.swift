import Download
import Failure
import ReleaseLog
import SignedNote
import Storage
import System
import Transport

/// What the release log has to say about a pull.
extension PullSession {
  /// The monitor of the origin's log, over the sources of this run.
  func monitor(
    _ expected: ExpectedOrigin, _ site: SiteURL, _ state: StateDirectory,
    sources: SourceList, _ transport: any Transport
  ) throws(FetchFailure) -> LogMonitor {
    var setup = LogMonitor.Setup(origin: expected.origin, trusted: expected.keys) {
      _, waiting in sources.wait(for: waiting)
    }
    setup.pinned = site.pinnedVersion
    setup.giveUpAfter = request.giveUpAfter
    setup.witnesses = try state.trust.load().policy
    setup.maximumAge = request.maximumAge
    return LogMonitor(
      setup, store: state.log(of: expected.origin),
      sources: sources.logSources(transport, interruption), clock: logClock,
      sleep: { seconds throws(FetchFailure) in
        report(.phase(.waiting(seconds: seconds)))
        try interruption.sleep(seconds)
        report(.phase(.checkingLog))
      }
    ) { event in
      switch event {
      case .fault(let failure): report(.sourceFailed(failure))
      case .note(let text, let hint): report(.note(text, hint: hint))
      case .alert(let alert): report(.alert(alert))
      }
    }
  }

  /// Runs a pull, and files what it ends with if that is more than a source's fault. Says at the end
  /// how many alerts nobody has looked at.
  func watching(
    _ origin: Origin, _ state: StateDirectory,
    _ body: () throws(FetchFailure) -> PullResult
  ) throws(FetchFailure) -> PullResult {
    let store = state.log(of: origin)
    defer {
      let count = (try? store.load())?.alerts.unacknowledged.count ?? 0
      if count > 0 { report(.unacknowledgedAlerts(count, origin: origin.name)) }
    }
    do throws(FetchFailure) { return try body() } catch {
      // The monitor files its own; this one shows only against what is on disk.
      if error.category == .versionReused {
        let alert = Alert(
          .versionReused, release: nil, instance: error.message, time: now().seconds,
          message: error.message)
        var isNew = false
        _ = try? store.update { state in
          isNew =
            !state.alerts.alerts.contains { $0.message == alert.message }
            && state.alerts.file(alert)
          return isNew
        }
        if isNew { report(.alert(alert)) }
      }
      throw error
    }
  }

  private var logClock: LogClock {
    LogClock(wall: { now().seconds })
  }
}

extension FetchEvent {
  static func alert(_ alert: Alert) -> FetchEvent {
    .alert(alert.kind.category, message: alert.message, evidence: alert.evidence)
  }
}
