/// When a line of progress is due where nothing can be drawn over: each tenth, or each half minute.
/// Pure.
struct ProgressLog: Sendable {
  private var tenth: Int?
  private var next = 0.0

  static let interval = 30.0

  /// Nil if none is due.
  mutating func line(_ state: ProgressState, now: Double) -> String? {
    guard let progress = state.progress else { return nil }
    let isDue = tenth.map { state.percent / 10 > $0 } ?? true || now >= next
    guard isDue else { return nil }
    tenth = max(tenth ?? 0, state.percent / 10)
    next = now + Self.interval
    let phase = ProgressBar.words(state.phase, now: now).map { ", \($0)" } ?? ""
    return "\(state.title) \(state.percent) %: \(Quantities.shown(progress.verified)) of "
      + "\(Quantities.shown(progress.total)), \(ProgressBar.shown(rate: state.average.rate)), "
      + (state.secondsLeft.map { Quantities.shown(seconds: $0) } ?? "--:--") + " left" + phase
  }
}
