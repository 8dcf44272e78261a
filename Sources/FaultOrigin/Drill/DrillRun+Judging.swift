import System

/// What may be, and what may not.
extension DrillRun {
  /// - Parameter isHonest: nil if what the pull ended with says nothing.
  mutating func judge(_ step: DrillStep, isHonest: Bool?) {
    var found = checker.violations()
    let faults = Set(step.traffic.faults.map(\.fault))
    record.note(
      elapsed,
      "pull: \(step.ending.text) after \(Int(step.seconds * 1_000)) ms, "
        + "\(step.traffic.requests) requests, \(step.traffic.bytes) bytes"
        + (faults.isEmpty ? "" : ", " + faults.map(\.rawValue).sorted().joined(separator: " "))
        + said(step))
    if let isHonest { found += exitViolations(step, faults, isHonest: isHonest) }

    let bound = DrillLimits.requests(blocks: site.newest.blocks)
    if step.traffic.requests > bound {
      found.append(Violation(.requests, "\(step.traffic.requests) requests, more than \(bound)"))
    }
    let most = DrillLimits.traffic(
      size: site.newest.size, connections: step.traffic.connections)
    if step.traffic.bytes > most {
      found.append(Violation(.traffic, "\(step.traffic.bytes) bytes, more than \(most)"))
    }
    if step.peakMemory > DrillLimits.memory {
      found.append(
        Violation(.memory, "\(step.peakMemory >> 20) MiB, more than \(DrillLimits.memory >> 20)"))
    }
    if secrets.areIn(step.output) || secrets.areIn(step.error) {
      found.append(Violation(.secret, "a secret was printed"))
    }
    for name in secrets.files(below: directory) where name != "header" {
      found.append(Violation(.secret, "a secret stands in \(name)"))
    }
    for stranger in Set(step.traffic.strange) {
      found.append(Violation(.strangeRequest, "a secret went to \(stranger)"))
    }
    record.add(step, faults, found, elapsed)
  }

  private func exitViolations(
    _ step: DrillStep, _ faults: Set<Fault>, isHonest: Bool
  ) -> [Violation] {
    switch step.ending {
    case .killed: return []
    case .hung:
      return [Violation(.hang, "still running after \(Int(step.seconds)) s")]
    case .crashed(let signal): return [Violation(.exitCode, "ended by signal \(signal)")]
    case .exited(0):
      var found: [Violation] = []
      let printed = String(decoding: step.output, as: UTF8.self).split(separator: "\n")
      if isHonest || isNewestExpected(faults) {
        if printed.count != 1 {
          found.append(Violation(.incomplete, "exit 0, and no single path was printed"))
        } else if let violation = checker.violation(ofResult: String(printed[0])) {
          found.append(violation)
        }
      }
      return found
    case .exited(let code):
      let right = rightExits(step)
      if right.contains(code) { return [] }
      return [
        Violation(
          isHonest ? .incomplete : .exitCode,
          isHonest
            ? "exit \(code) from an origin that does everything right\(said(step))"
            : "exit \(code), which is not among \(right.sorted())\(said(step))")
      ]
    }
  }

  /// The exit statuses other than 0 that are right after what was done to a pull.
  func rightExits(_ step: DrillStep) -> Set<Int32> {
    var right: Set<Int32> = []
    // No source can stop a pull that another one could finish.
    if !hasHonestMirror {
      for record in step.traffic.faults { right.formUnion(record.fault.facts.exits) }
    }
    // Who was shown another history of the publisher's has to say ever after that there are two.
    let isTold = step.traffic.faults.contains { Self.secondHistories.contains($0.fault) }
    if isTold || Self.secondHistories.contains(where: record.hasSeen) { right.insert(5) }
    return right
  }

  private static let secondHistories: [Fault] = [
    .forkedLog, .longerFork, .unloggedManifest, .reusedVersion,
  ]

  /// Whether a pull that ends well has the newest version: an origin may have shown it an older one.
  private func isNewestExpected(_ faults: Set<Fault>) -> Bool {
    faults.isDisjoint(with: [
      .previousManifest, .unloggedManifest, .reusedVersion, .forkedLog, .longerFork,
      .olderCheckpoint, .checkpointBehind,
    ]) && !record.hasSeen(.previousManifest)
  }

  /// The last error that a pull said, for people.
  private func said(_ step: DrillStep) -> String {
    let error = String(decoding: step.error, as: UTF8.self).split(separator: "\n")
      .last { $0.hasPrefix("fetchres: error: ") }
    return error.map { "; " + $0.dropFirst("fetchres: error: ".count) } ?? ""
  }
}
