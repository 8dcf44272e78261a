/// Draws what the origin of a run does wrong.
enum DrawnPlan {
  /// - Parameters:
  ///   - alternatives: the directories for the faults that need one; others are left out.
  /// - Returns: the text of a plan.
  static func text(_ draw: inout Draw, size: Int64, alternatives: [Fault: String]) -> String {
    var lines: [String] = []
    // Slow enough that a kill finds something to interrupt, more often than not.
    if draw.chance(0.7), size > 0 {
      let seconds = Double(draw.number(1...6)) / 10
      lines.append("rate \(max(65_536, Int64(Double(size) / seconds / 2)))")
    }
    if draw.chance(0.3) { lines.append("latency \(draw.number(1...20))ms") }
    let faults = Fault.allCases.filter {
      !$0.facts.arguments.contains(.from) || alternatives[$0] != nil
    }
    // Several mirrors, as often as not with one among them that does everything right.
    let ports = draw.chance(0.35) ? draw.number(2...3) : 1
    let honest = ports > 1 && draw.chance(0.6) ? draw.number(1...ports) : nil
    for port in 1...ports {
      if ports > 1 { lines.append("port \(port)") }
      if port == honest { continue }
      for _ in 0..<draw.number(1...4) {
        lines.append(rule(draw.one(of: faults), &draw, alternatives))
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func rule(
    _ fault: Fault, _ draw: inout Draw, _ alternatives: [Fault: String]
  ) -> String {
    var words = [fault.rawValue]
    if let directory = alternatives[fault] { words.append("from=\(directory)") }
    if fault == .steady { words.append("rate=256K") }
    switch draw.below(7) {
    case 0, 6: break
    case 1: words.append("first \(draw.number(1...5))")
    case 2: words.append("every \(draw.number(2...6))")
    case 3: words.append("chance \(draw.number(5...50))%")
    case 4: words.append("after \(draw.number(1...6)) requests")
    default: words.append("first \(draw.number(1...3)) after \(draw.number(1...4)) requests")
    }
    return words.joined(separator: " ")
  }
}
