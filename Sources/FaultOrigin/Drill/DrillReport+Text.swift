extension DrillReport {
  /// The table fault × outcome, and every failing run with the command that repeats it.
  package var text: String {
    var lines = [table]
    for run in failures {
      lines.append("")
      lines.append("run \(run.index) with seed \(run.seed):")
      for violation in run.violations {
        lines.append("  \(violation.rule.rawValue): \(violation.text)")
      }
      lines.append("  again: \(command(repeating: run))")
    }
    lines.append("")
    lines.append(summary)
    return lines.joined(separator: "\n")
  }

  private var table: String {
    let first = max(16, (rows.map(\.name.count).max() ?? 0) + 2)
    func padded(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    let widths = Self.columns.map { $0.name.count + 2 }
    var lines = [
      String(repeating: " ", count: first)
        + zip(Self.columns, widths).map { padded($0.name, $1) }.joined()
    ]
    for row in rows {
      lines.append(
        row.name + String(repeating: " ", count: first - row.name.count)
          + zip(Self.columns, widths).map { column, width in
            let count = row.counts[keyPath: column.value]
            return padded(count == 0 ? "." : "\(count)", width)
          }.joined())
    }
    return lines.joined(separator: "\n")
  }
}
