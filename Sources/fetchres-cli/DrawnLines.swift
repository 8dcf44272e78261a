/// Lines at the end of what a terminal shows, that are drawn over again and again. Pure: what it
/// answers is to be written as it is.
struct DrawnLines: Sendable {
  /// The columns of each line as it was drawn.
  private var columns: [Int] = []

  /// Draws other lines instead.
  ///
  /// - Parameter width: of the terminal now. Where it is narrower than before, terminals have wrapped
  ///   what was too long.
  mutating func draw(_ lines: [TerminalLine], width: Int) -> String {
    var text = goBack(width: width)
    text += lines.map { $0.text + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
    columns = lines.map(\.columns)
    return text
  }

  /// Removes them: what is written next begins where they were.
  mutating func erase(width: Int) -> String {
    guard !columns.isEmpty else { return "" }
    defer { columns = [] }
    return goBack(width: width) + "\u{1B}[J"
  }

  /// Leaves them where they are, because somebody else has written since.
  mutating func forget() -> String {
    defer { columns = [] }
    return columns.isEmpty ? "" : "\r\n"
  }

  private func goBack(width: Int) -> String {
    guard !columns.isEmpty else { return "" }
    let rows = columns.reduce(0) { $0 + max(1, ($1 + max(1, width) - 1) / max(1, width)) }
    return "\r" + (rows > 1 ? "\u{1B}[\(rows - 1)A" : "")
  }
}
