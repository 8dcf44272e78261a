extension DrillReport {
  package var json: JSON {
    .object([
      ("seed", .number(Int64(settings.seed))), ("runs", .number(Int64(runs))),
      ("pulls", .number(Int64(pulls))), ("faults", .number(Int64(faults))),
      ("kills", .number(Int64(kills))), ("tamperings", .number(Int64(tamperings))),
      ("repeated", .number(Int64(repeated))), ("bytes", .number(bytes)),
      ("milliseconds", .number(Int64(seconds * 1_000))),
      ("longestPullMilliseconds", .number(Int64(longestPull * 1_000))),
      ("peakMemory", .number(peakMemory)), ("violations", .number(Int64(violations))),
      (
        "outcomes",
        .members(
          rows.map { row in
            JSON.Member(
              name: row.name,
              value: .object(
                Self.columns.map {
                  (
                    String($0.name.prefix { $0 != " " }),
                    .number(Int64(row.counts[keyPath: $0.value]))
                  )
                }))
          })
      ),
      ("failures", .list(failures.map(json))),
    ])
  }

  private func json(_ run: RunRecord) -> JSON {
    .object([
      ("run", .number(Int64(run.index))), ("seed", .number(Int64(run.seed))),
      ("command", .text(command(repeating: run))), ("plan", .list(run.plan.map { .text($0) })),
      (
        "violations",
        .list(
          run.violations.map {
            .object([("rule", .text($0.rule.rawValue)), ("text", .text($0.text))])
          })
      ),
      (
        "timeline",
        .list(
          run.entries.map {
            .object([
              ("ms", .number(Int64($0.at * 1_000))), ("text", .text($0.text)),
              ("violation", .bool($0.isViolation)),
            ])
          })
      ),
    ])
  }
}
