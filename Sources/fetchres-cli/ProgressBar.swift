/// Draws how far a pull is, in as many lines as the width needs. Pure.
struct ProgressBar: Sendable {
  var style: TerminalStyle
  /// Columns that may be used.
  var width: Int

  static let leastWidth = 20
  private static let leastBar = 10
  private static let mostBar = 60

  init(_ style: TerminalStyle, columns: Int) {
    self.style = style
    // The last column is left free: some terminals go to the next line when it is written.
    width = max(Self.leastWidth, columns - 1)
  }

  func lines(_ state: ProgressState, now: Double) -> [TerminalLine] {
    let details = details(state, now: now)
    guard state.progress != nil else { return flowed([.init(state.title)] + details) }
    let percent = "\(state.percent) %"
    let title = shortened(state.title, to: max(8, width * 2 / 5))
    let all = details.reduce(0) { $0 + $1.columns + 2 }
    let rest = width - title.count - percent.count - 4
    // One line if there is room for a bar that says something.
    let isOne = rest - all >= 20
    let bar = min(Self.mostBar, isOne ? rest - all : rest)
    var line = TerminalLine()
    line.add(title + "  ")
    if bar >= Self.leastBar { add(state, bar, to: &line) }
    line.add("  " + percent)
    guard isOne else { return [line] + flowed(details) }
    for detail in details {
      line.add("  ")
      line.add(detail)
    }
    return [line]
  }

  private func shortened(_ text: String, to count: Int) -> String {
    guard text.count > count else { return text }
    let mark = style.isUnicode ? "…" : "..."
    return text.prefix(count - mark.count) + mark
  }

  private func add(_ state: ProgressState, _ width: Int, to line: inout TerminalLine) {
    let share: Double
    if let progress = state.progress, progress.total > 0 {
      share = min(1, max(0, Double(progress.verified) / Double(progress.total)))
    } else {
      share = 1
    }
    guard style.isUnicode else {
      let full = Int(share * Double(width - 2))
      line.add(
        "[" + String(repeating: "#", count: full)
          + String(repeating: "-", count: width - 2 - full) + "]")
      return
    }
    let eighths = Int(share * Double(width * 8))
    var full = String(repeating: "█", count: eighths / 8)
    let parts: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    if eighths % 8 > 0 { full.append(parts[eighths % 8 - 1]) }
    line.add(full, shown: style.colored(full, .green))
    let empty = String(repeating: "░", count: width - full.count)
    line.add(empty, shown: style.colored(empty, .gray))
  }

  // MARK: Words

  private func details(_ state: ProgressState, now: Double) -> [TerminalLine] {
    var details: [TerminalLine] = []
    if let phase = Self.words(state.phase, now: now) { details.append(.init(phase)) }
    guard let progress = state.progress else { return details }
    details.append(
      .init(
        "\(Quantities.shown(min(progress.verified, progress.total))) of "
          + Quantities.shown(progress.total)))
    details.append(.init("\(Self.shown(rate: progress.rate)) now"))
    details.append(.init("\(Self.shown(rate: state.average.rate)) on average"))
    details.append(
      .init((state.secondsLeft.map { Quantities.shown(seconds: $0) } ?? "--:--") + " left"))
    details.append(.init(Quantities.counted(Int64(progress.sources), "source")))
    if state.refused > 0 {
      let text = "\(Quantities.counted(Int64(state.refused), "block")) refused"
      var line = TerminalLine()
      line.add(text, shown: style.colored(text, .red))
      details.append(line)
    }
    return details
  }

  /// Nil while blocks are fetched: that needs no word.
  static func words(_ phase: ProgressState.Phase, now: Double) -> String? {
    switch phase {
    case .starting: "starting"
    case .checkingLog: "checking the log"
    case .waiting(let time):
      "waiting for a source, next attempt in \(Quantities.shown(seconds: max(0, time - now)))"
    case .startingTor(nil): "tor starting"
    case .startingTor(let percent?): "tor starting \(max(0, min(100, percent))) %"
    case .rehashing: "re-hashing what is on disk"
    case .fetching: nil
    case .finishing: "finishing"
    }
  }

  static func shown(rate: Double?) -> String {
    guard let rate, rate.isFinite, rate >= 0, rate < 9e18 else { return "-" }
    return Quantities.shown(Int64(rate)) + "/s"
  }

  /// As many of the words in a line as it holds; one that is longer is cut.
  private func flowed(_ details: [TerminalLine]) -> [TerminalLine] {
    var lines: [TerminalLine] = []
    var line = TerminalLine()
    for detail in details where detail.columns > 0 {
      if line.columns > 0, line.columns + 2 + detail.columns > width {
        lines.append(line)
        line = TerminalLine()
      }
      if line.columns > 0 { line.add("  ") }
      if detail.columns <= width {
        line.add(detail)
      } else {
        line.add(shortened(detail.text, to: width))
      }
    }
    return line.columns > 0 ? lines + [line] : lines
  }
}

extension TerminalLine {
  mutating func add(_ other: TerminalLine) {
    add(String(repeating: " ", count: other.columns), shown: other.text)
  }
}
