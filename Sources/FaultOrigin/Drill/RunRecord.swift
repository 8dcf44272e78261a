/// What happened in a run.
package struct RunRecord: Sendable {
  package struct Entry: Sendable {
    /// Seconds since the run began.
    package var at: Double
    package var text: String
    package var isViolation: Bool
  }

  package let index: Int
  package let seed: UInt64
  /// Its lines.
  package internal(set) var plan: [String] = []
  package internal(set) var entries: [Entry] = []
  package internal(set) var violations: [Violation] = []
  package internal(set) var pulls = 0
  package internal(set) var kills = 0
  package internal(set) var tamperings = 0
  /// Pulls for which the machine was too busy, and which were given more time.
  package internal(set) var repeated = 0
  package internal(set) var seconds = 0.0
  package internal(set) var longestPull = 0.0
  package internal(set) var peakMemory: Int64 = 0
  package internal(set) var bytes: Int64 = 0
  package internal(set) var faults = 0
  /// What pulls ended with, by what was done to them.
  package internal(set) var outcomes: [Fault?: OutcomeCounts] = [:]

  init(index: Int, seed: UInt64) { (self.index, self.seed) = (index, seed) }

  func hasSeen(_ fault: Fault) -> Bool { outcomes[fault] != nil }

  mutating func note(_ at: Double, _ text: String, isViolation: Bool = false) {
    entries.append(Entry(at: at, text: text, isViolation: isViolation))
  }

  mutating func add(
    _ step: DrillStep, _ faults: Set<Fault>, _ found: [Violation], _ at: Double
  ) {
    pulls += 1
    if step.ending == .killed { kills += 1 }
    longestPull = max(longestPull, step.seconds)
    peakMemory = max(peakMemory, step.peakMemory)
    bytes += step.traffic.bytes
    self.faults += step.traffic.faults.count
    let rows: [Fault?] = faults.isEmpty ? [nil] : faults.map { $0 }
    for row in rows {
      outcomes[row, default: OutcomeCounts()].add(step.ending, isViolated: !found.isEmpty)
    }
    violations += found
    for violation in found {
      note(at, "\(violation.rule.rawValue): \(violation.text)", isViolation: true)
    }
  }
}

/// How many pulls ended how.
package struct OutcomeCounts: Sendable, Equatable {
  package var complete = 0
  package var network = 0
  package var content = 0
  package var trust = 0
  package var killed = 0
  package var other = 0
  package var violated = 0

  mutating func add(_ ending: DrillStep.Ending, isViolated: Bool) {
    switch ending {
    case .exited(0): complete += 1
    case .exited(3): network += 1
    case .exited(4): content += 1
    case .exited(5): trust += 1
    case .killed: killed += 1
    case .exited, .crashed, .hung: other += 1
    }
    if isViolated { violated += 1 }
  }

  mutating func add(_ more: OutcomeCounts) {
    complete += more.complete
    network += more.network
    content += more.content
    trust += more.trust
    killed += more.killed
    other += more.other
    violated += more.violated
  }
}
