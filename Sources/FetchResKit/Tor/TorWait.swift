import Failure
import System

/// Waits until Tor is through: by its control port where there is one that tells, else by what comes
/// through it. Whether there is a wait is the user's wish alone: a tor that is not there is waited for
/// like one that has just begun.
struct TorWait {
  let socks: String
  /// Nil where there is none.
  let control: (address: String, port: TorControlPort)?
  let giveUpAfter: Double
  let interruption: Interruption
  /// Whether something comes through, found out until a time; nil if it was not by then.
  let probe: (_ until: Double) throws(FetchFailure) -> TorStart.Word?
  let report: (FetchEvent) -> Void

  /// Seconds between two looks.
  private static let interval = 0.5
  /// Seconds for a look at what comes through while the control port may come back.
  private static let glance = 2.0

  /// - Throws: `tor-stalled`, `proxy-unreachable`, `interrupted`.
  func run() throws(FetchFailure) {
    var start = TorStart(now: Clocks.monotonic(), giveUpAfter: giveUpAfter)
    var control = control?.port
    var shown = TorStart.State.starting(percent: nil)
    report(.phase(.startingTor(percent: nil)))
    while true {
      let word: TorStart.Word?
      if let told = try hear(&control) {
        word = told
      } else {
        // A control port that is gone for the moment will tell more than a long look.
        let limit = control == nil ? .infinity : Clocks.monotonic() + Self.glance
        word = try probe(min(start.deadline, limit))
      }
      let state = start.hear(word, now: Clocks.monotonic())
      if let failure = state.failure(socks: socks) { throw failure }
      switch state {
      case .ready, .stalled, .absent: return report(.route("tor is ready"))
      case .starting(let percent):
        if state != shown { report(.phase(.startingTor(percent: percent))) }
        shown = state
      }
      try interruption.sleep(Self.interval)
    }
  }

  /// What the control port says; nil if it says nothing. One that is of no use is asked once, and that
  /// is said.
  private func hear(_ control: inout TorControlPort?) throws(FetchFailure) -> TorStart.Word? {
    guard let port = control else { return nil }
    do throws(TorControlFault) { return .percent(try port.bootstrapPercent()) } catch {
      try interruption.check()
      switch error {
      case .gone: return nil
      case .useless(let why):
        control = nil
        report(
          .note(
            "the control port of tor at \(self.control?.address ?? "") \(why)",
            hint: "how far tor is cannot be told; the run goes on"))
        return nil
      }
    }
  }
}
