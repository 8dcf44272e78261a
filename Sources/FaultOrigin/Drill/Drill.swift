import Failure
import System

/// Many runs against origins that do wrong, some at a time.
package final class Drill: Sendable {
  private let settings: DrillSettings
  private let interruption: Interruption
  private let report: @Sendable (DrillReport) -> Void
  private let sites: SiteSet

  private struct State: Sendable {
    var next = 0
    var report: DrillReport
    var failure: FetchFailure?
  }

  /// - Parameter report: is told after each run what is known so far.
  package init(
    _ settings: DrillSettings, interruption: Interruption,
    report: @escaping @Sendable (DrillReport) -> Void
  ) {
    precondition(settings.jobs > 0 && settings.runs >= 0, "FaultOrigin: a drill of nothing")
    self.settings = settings
    self.interruption = interruption
    self.report = report
    sites = SiteSet(settings)
  }

  /// Runs all, or as many as can begin before it is interrupted.
  ///
  /// - Throws: what keeps the drill itself from working.
  package func run() throws(FetchFailure) -> DrillReport {
    try doing("cannot make \(settings.scratch)") { () throws(SystemError) in
      try PlainDisk.makeDirectory(settings.scratch)
    }
    defer { PlainDisk.remove(settings.scratch) }
    let start = Clocks.monotonic()
    let state = Monitor(State(report: DrillReport(settings)))
    let threads = (0..<min(settings.jobs, max(1, settings.runs))).map { _ in
      WorkThread("drill") { [self] in
        while let index = takeNext(state) {
          do throws(FetchFailure) {
            let record = try run(index)
            let known = state.change { state in
              state.report.add(record)
              state.report.seconds = Clocks.monotonic() - start
              return state.report
            }
            report(known)
          } catch {
            state.change { $0.failure = $0.failure ?? error }
          }
        }
      }
    }
    for thread in threads { thread.join() }
    let end = state.look { $0 }
    if let failure = end.failure { throw failure }
    return end.report
  }

  private func takeNext(_ state: Monitor<State>) -> Int? {
    guard interruption.signal == nil else { return nil }
    return state.change { state in
      guard state.failure == nil, state.next < settings.runs else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  private func run(_ index: Int) throws(FetchFailure) -> RunRecord {
    let seed = settings.seed(ofRun: index)
    var draw = Draw(seed: seed)
    let site = try sites.site(&draw)
    var run = DrillRun(
      settings, index: index, seed: seed, site: site, draw: draw,
      directory: Path.join(settings.scratch, "run-\(index)"), interruption: interruption)
    return try run.run()
  }
}

/// The sites of a drill, each made when it is needed first.
private final class SiteSet: Sendable {
  private let settings: DrillSettings
  private let made = Monitor<[DrillSite.Shape: Result<DrillSite, FetchFailure>]>([:])
  private let read = Monitor<Result<DrillSite, FetchFailure>?>(nil)

  init(_ settings: DrillSettings) { self.settings = settings }

  func site(_ draw: inout Draw) throws(FetchFailure) -> DrillSite {
    switch settings.resource {
    case .site(let path):
      return try read.change { site in
        let result = site ?? Result { () throws(FetchFailure) in try DrillSite(reading: path) }
        site = result
        return result
      }.get()
    case .made(let size):
      let shapes = DrillSite.Shape.all(size)
      // The odd ones are quick and say less, and nothing of a plan that somebody wrote.
      let isPlain = !settings.plans.isEmpty || draw.chance(0.75)
      let shape = isPlain ? shapes[Int(draw.below(3))] : draw.one(of: shapes)
      return try made.change { made in
        let result =
          made[shape]
          ?? Result { () throws(FetchFailure) in
            try DrillSite(
              shape, executable: settings.executable,
              in: Path.join(settings.scratch, "site-\(shape.size)-\(shape.blockSize)"))
          }
        made[shape] = result
        return result
      }.get()
    }
  }
}
