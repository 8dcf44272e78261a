extension DrillReport {
  /// One page that needs nothing else: the table, and a timeline for every failing run.
  package var html: String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><title>fetchres drill</title>
    <style>
    body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
      color: #222; background: #fff }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums }
    th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #ddd }
    th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace }
    code, pre { font-family: ui-monospace, monospace; font-size: 13px }
    pre { background: #f4f4f4; padding: .5rem; overflow-x: auto }
    .bad { color: #b00020; font-weight: 600 } .zero { color: #bbb }
    @media (prefers-color-scheme: dark) {
      body { color: #ddd; background: #181818 } th, td { border-color: #444 } pre { background: #222 }
      .bad { color: #ff6b7d } .zero { color: #555 }
    }
    </style></head><body>
    <h1>fetchres drill</h1>
    <p\(violations > 0 ? " class=\"bad\"" : "")>\(Self.escaped(summary))</p>
    <table><thead><tr><th>fault</th>\(headings)</tr></thead>
    <tbody>
    \(rows.map(htmlRow).joined(separator: "\n"))
    </tbody></table>
    \(failures.map(htmlRun).joined(separator: "\n"))
    </body></html>

    """
  }

  private var headings: String { Self.columns.map { "<th>\($0.name)</th>" }.joined() }

  private func htmlRow(_ row: (name: String, counts: OutcomeCounts)) -> String {
    let cells = Self.columns.map { column in
      let count = row.counts[keyPath: column.value]
      let kind = count == 0 ? "zero" : column.name == "violated" ? "bad" : ""
      return "<td class=\"\(kind)\">\(count)</td>"
    }
    return "<tr><td>\(Self.escaped(row.name))</td>\(cells.joined())</tr>"
  }

  private func htmlRun(_ run: RunRecord) -> String {
    let entries = run.entries.map { entry in
      "<tr\(entry.isViolation ? " class=\"bad\"" : "")><td>\(Int(entry.at * 1_000)) ms</td>"
        + "<td style=\"text-align:left\">\(Self.escaped(entry.text))</td></tr>"
    }
    return """
      <h2>run \(run.index), seed \(run.seed)</h2>
      <pre>\(Self.escaped(command(repeating: run)))</pre>
      <pre>\(Self.escaped(run.plan.joined(separator: "\n")))</pre>
      <table>\(entries.joined(separator: "\n"))</table>
      """
  }

  private static func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      default: String(character)
      }
    }.joined()
  }
}
