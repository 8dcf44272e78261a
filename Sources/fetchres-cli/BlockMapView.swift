import Download

/// Draws a map of blocks: two rows of cells in a line of half blocks where the terminal has colours,
/// else a letter a cell. Pure.
struct BlockMapView: Sendable {
  var style: TerminalStyle
  var width: Int

  init(_ style: TerminalStyle, columns: Int) {
    self.style = style
    width = max(ProgressBar.leastWidth, columns - 1)
  }

  private var usesHalves: Bool { style.hasColor && style.isUnicode }

  /// - Parameter rows: the most lines to draw, the legend included.
  func lines(_ map: BlockMap, rows: Int) -> [TerminalLine] {
    let legend = legend
    let height = max(1, rows - legend.count)
    let cells = map.reduced(to: width * height * (usesHalves ? 2 : 1)).cells
    let lines = stride(from: 0, to: cells.count, by: width * (usesHalves ? 2 : 1)).map { start in
      usesHalves ? halves(cells[start...]) : letters(cells[start...])
    }
    return (lines + legend).prefix(max(1, rows)).map { $0 }
  }

  private func letters(_ cells: ArraySlice<BlockMap.Cell>) -> TerminalLine {
    var line = TerminalLine()
    for cell in cells.prefix(width) {
      line.add(cell.letter, shown: style.colored(cell.letter, cell.color))
    }
    return line
  }

  private func halves(_ cells: ArraySlice<BlockMap.Cell>) -> TerminalLine {
    let (upper, lower) = (cells.prefix(width), cells.dropFirst(width).prefix(width))
    var line = TerminalLine()
    var codes = ""
    for (column, cell) in upper.enumerated() {
      // The background is the colour of the lower half.
      let below =
        column < lower.count
        ? "\(lower[lower.startIndex + column].color.rawValue + 10)" : "49"
      let own = "\u{1B}[\(cell.color.rawValue);\(below)m"
      line.add("▀", shown: own == codes ? "▀" : own + "▀")
      codes = own
    }
    if !upper.isEmpty { line.add("", shown: "\u{1B}[0m") }
    return line
  }

  private var legend: [TerminalLine] {
    var lines: [TerminalLine] = []
    var line = TerminalLine()
    for cell in BlockMap.Cell.allCases.reversed() {
      let mark = usesHalves ? "█" : cell.letter
      let length = mark.count + 1 + cell.word.count
      if line.columns > 0, line.columns + 2 + length > width {
        lines.append(line)
        line = TerminalLine()
      }
      if line.columns > 0 { line.add("  ") }
      line.add(mark, shown: style.colored(mark, cell.color))
      line.add(" \(cell.word)")
    }
    return lines + [line]
  }
}

extension BlockMap.Cell {
  var letter: String {
    switch self {
    case .verified: "#"
    case .carriedOver: "+"
    case .inFlight: ">"
    case .refused: "!"
    case .missing: "."
    }
  }

  var word: String {
    switch self {
    case .verified: "verified"
    case .carriedOver: "carried over"
    case .inFlight: "in flight"
    case .refused: "refused"
    case .missing: "missing"
    }
  }

  var color: TerminalStyle.Color {
    switch self {
    case .verified: .green
    case .carriedOver: .blue
    case .inFlight: .yellow
    case .refused: .red
    case .missing: .gray
    }
  }
}
