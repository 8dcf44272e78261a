/// What a drill found.
package struct DrillReport: Sendable {
  package let settings: DrillSettings
  package internal(set) var runs = 0
  package internal(set) var pulls = 0
  package internal(set) var kills = 0
  package internal(set) var tamperings = 0
  package internal(set) var repeated = 0
  package internal(set) var faults = 0
  package internal(set) var bytes: Int64 = 0
  package internal(set) var seconds = 0.0
  package internal(set) var longestPull = 0.0
  package internal(set) var peakMemory: Int64 = 0
  package internal(set) var violations = 0
  package internal(set) var outcomes: [Fault?: OutcomeCounts] = [:]
  /// The runs with violations.
  package internal(set) var failures: [RunRecord] = []

  init(_ settings: DrillSettings) { self.settings = settings }

  mutating func add(_ run: RunRecord) {
    runs += 1
    pulls += run.pulls
    kills += run.kills
    tamperings += run.tamperings
    repeated += run.repeated
    faults += run.faults
    bytes += run.bytes
    longestPull = max(longestPull, run.longestPull)
    peakMemory = max(peakMemory, run.peakMemory)
    violations += run.violations.count
    for (fault, counts) in run.outcomes { outcomes[fault, default: OutcomeCounts()].add(counts) }
    if !run.violations.isEmpty { failures.append(run) }
  }

  /// One line that says it all.
  package var summary: String {
    "drill: \(runs) runs, \(pulls) pulls, \(faults) faults, \(kills) kills, "
      + "\(tamperings) tamperings, \(Int(seconds.rounded())) s, "
      + (repeated > 0 ? "\(repeated) repeated on a busy machine, " : "")
      + "\(violations) violations (seed \(settings.seed))"
  }

  /// The rows of the table: a fault, or nothing, and what pulls ended with.
  var rows: [(name: String, counts: OutcomeCounts)] {
    let named = Fault.allCases.compactMap { fault in
      outcomes[fault].map { (name: fault.rawValue, counts: $0) }
    }
    return named + (outcomes[.none].map { [(name: "no fault", counts: $0)] } ?? [])
  }

  static var columns: [(name: String, value: KeyPath<OutcomeCounts, Int>)] {
    [
      ("complete", \.complete), ("network (3)", \.network), ("content (4)", \.content),
      ("trust (5)", \.trust), ("killed", \.killed), ("other", \.other), ("violated", \.violated),
    ]
  }

  /// The command that repeats a run.
  package func command(repeating run: RunRecord) -> String {
    var words = ["fetchres", "drill"]
    switch settings.resource {
    case .site(let path): words.append(Self.quoted(path))
    case .made(let size): words += ["--size", "\(size)"]
    }
    if !settings.plans.isEmpty {
      let plan = settings.plans[run.index % settings.plans.count]
      words += ["--plan", Self.quoted(plan.name)]
    }
    words += ["--runs", "1", "--seed", "\(run.seed)"]
    if settings.kills { words.append("--kill") }
    if settings.tampers { words.append("--tamper") }
    return words.joined(separator: " ")
  }

  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
        || "0123456789/._-+:".utf8.contains($0)
    }
    if isPlain, !word.isEmpty { return word }
    return "'" + word.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
  }
}
