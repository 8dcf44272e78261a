import Failure
import Manifest
import SignedNote
import System

/// Settles, before anything is fetched, which release a pull works on: signed by a trusted key, in a
/// log that continues the one this client knows, and the newest there is.
///
/// Asks all sources; what one says wrong is its own fault as long as another is left. What it comes to
/// believe is durable before it is returned.
package struct LogMonitor {
  package struct Setup: Sendable {
    package var origin: Origin
    /// Keys that a user named.
    package var trusted: [NoteKey]
    package var witnesses = WitnessPolicy()
    /// Seconds that the newest sign of life may be old; nil for any age.
    package var maximumAge: Int64?
    /// The version that the URL pins.
    package var pinned: String?
    /// Seconds after which unreachable sources end the run.
    package var giveUpAfter = 600.0
    /// Seconds until another source is asked beside one that has not answered with tiles or entries.
    package var patience = 10.0
    /// Seconds until one of those sources may be asked again, after so many rounds in a row in which
    /// none could be reached.
    package var wait: @Sendable (_ failures: Int, _ sources: [Int]) -> Double

    package init(
      origin: Origin, trusted: [NoteKey],
      wait: @escaping @Sendable (_ failures: Int, _ sources: [Int]) -> Double
    ) {
      (self.origin, self.trusted, self.wait) = (origin, trusted, wait)
    }
  }

  package enum Event: Sendable {
    /// A source is to blame; the run goes on.
    case fault(FetchFailure)
    case note(String, hint: String?)
    /// A new alert.
    case alert(Alert)
  }

  /// What the run works on.
  package struct Verdict {
    /// The release to fetch.
    package var release: LogState.Release
    /// The newest release; another one where the URL pins a version.
    package var newest: LogState.Release
    /// As it lies on disk now.
    package var state: LogState
    /// The keys that count from here on.
    package var keys: [NoteKey]
    /// The sources that showed something signed, and nothing that is held against them.
    package var sources: Set<Int>
  }

  let setup: Setup
  let store: LogStore
  let sources: [LogSource]
  let clock: LogClock
  let sleep: (Double) throws(FetchFailure) -> Void
  let report: (Event) -> Void

  package init(
    _ setup: Setup, store: LogStore, sources: [LogSource], clock: LogClock = LogClock(),
    sleep: @escaping (Double) throws(FetchFailure) -> Void, report: @escaping (Event) -> Void
  ) {
    precondition(!sources.isEmpty, "ReleaseLog: somebody has to be asked")
    (self.setup, self.store, self.sources) = (setup, store, sources)
    (self.clock, self.sleep, self.report) = (clock, sleep, report)
  }

  /// Caches out of step are asked again after these many seconds each.
  static let askingAgain: [Double] = [1, 4, 9, 16]

  private static let maximumConflicts = 8

  /// - Throws: what ended the run; nothing that it believed before is lost.
  package func run() throws(FetchFailure) -> Verdict {
    var base = try store.load()
    var round = LogRound(sources: sources, pinned: setup.pinned)
    let start = clock.monotonic()
    round.ask()
    var conflicts = 0
    func reload() throws(FetchFailure) {
      conflicts += 1
      guard conflicts <= Self.maximumConflicts else {
        throw FetchFailure(
          .locked, "other pulls keep changing what is known of \(setup.origin)",
          hint: "run again when they are done")
      }
      base = try store.load()
    }
    while true {
      let judge = LogJudge(setup, sources, round, base: base, clock, store)
      switch try judge.run() {
      case .accepted(let verdict):
        guard let kept = try commit(judge.state, over: base) else {
          try reload()
          continue
        }
        publish(judge.events, new: judge.newAlerts)
        if let failure = judge.refusal { throw failure }
        return Verdict(
          release: verdict.release, newest: verdict.newest, state: kept, keys: judge.ring.keys,
          sources: Set(judge.offers.map(\.source)).subtracting(judge.failures.keys))
      case .alarm(let failure):
        guard try commit(judge.state, over: base) != nil else {
          try reload()
          continue
        }
        publish(judge.events, new: judge.newAlerts)
        throw failure
      case .outOfStep(let failure):
        report(.fault(failure))
        let wait = Self.askingAgain[min(round.repeats, Self.askingAgain.count - 1)]
        if !judge.asksAtOnce { try sleep(wait) }
        round.askAgain()
      case .nothing(let failures):
        try interrupted(failures)
        if try retry(failures, &round, since: start) { continue }
        throw end(failures, judge, base)
      }
    }
  }

  /// - Returns: nil if somebody else was faster.
  private func commit(
    _ state: LogState, over base: LogState
  ) throws(FetchFailure) -> LogState? {
    var isOurs = false
    let kept = try store.update { disk in
      guard disk.serial == base.serial else { return false }
      isOurs = true
      disk = state
      return true
    }
    return isOurs ? kept : nil
  }

  private func publish(_ events: [Event], new alerts: [Alert]) {
    for event in events { report(event) }
    for alert in alerts { report(.alert(alert)) }
  }

  private func interrupted(_ failures: [Int: FetchFailure]) throws(FetchFailure) {
    // That is nothing that a source did.
    if let failure = failures.values.first(where: { $0.category == .interrupted }) { throw failure }
  }

  /// Asks again those that failed, if that may help: after a wait those that could not be reached, and
  /// once, past caches, those that answered something wrong.
  private func retry(
    _ failures: [Int: FetchFailure], _ round: inout LogRound, since start: Double
  ) throws(FetchFailure) -> Bool {
    let out = failures.filter { $1.exitCode == 3 }.keys.sorted()
    let new = failures.filter { $1.exitCode != 3 && round.refusals[$0, default: 0] == 0 }.keys
    guard !out.isEmpty || !new.isEmpty else { return false }
    var wait = 0.0
    if new.isEmpty {
      wait = setup.wait(round.incidents + 1, out)
      guard clock.monotonic() + wait - start <= setup.giveUpAfter else { return false }
      round.incidents += 1
    }
    for index in failures.keys.sorted() {
      guard let failure = failures[index] else { continue }
      report(.fault(failure))
      if failure.exitCode != 3 { round.refusals[index, default: 0] += 1 }
    }
    if wait > 0 {
      report(.note("next attempt in \(Int(wait.rounded(.up))) s", hint: nil))
      try sleep(wait)
    }
    round.ask(only: Set(out).union(new))
    return true
  }

  /// Says why no source gave what is needed, and files what is more than a source's fault.
  private func end(
    _ failures: [Int: FetchFailure], _ judge: LogJudge, _ base: LogState
  ) -> FetchFailure {
    let failure = IntegrityRules.end(of: sources.indices.compactMap { failures[$0] })
    guard failure.category != .unknownKey else { return failure }
    let alert = Alert.Kind(failure.category).map {
      Alert(
        $0, release: nil, instance: failure.message, time: clock.wall(), message: failure.message)
    }
    guard alert != nil || base.serial > 0 else { return failure }
    var isNew = false
    // The reason to end stays the reason, whether or not it can be recorded.
    _ = try? store.update { state in
      for each in failures.values { state.blame(each) }
      if let alert { isNew = state.alerts.file(alert) }
      return true
    }
    if let alert, isNew { report(.alert(alert)) }
    return failure
  }
}
