import System

/// Answers that are right as far as they go. Each says whether it changed anything.
extension WireAnswer {
  /// Longer than any client waits, in seconds.
  static let patience = 3_600.0

  /// Ends in the body, at a place that the rule names or that is drawn.
  mutating func cut(_ context: inout FaultContext, _ ending: Ending) -> Bool {
    guard bodyCount > 0 else { return false }
    let given = context.rule.arguments[.bytes].flatMap { PlanText.size($0) }
    cutBody(to: given.map { min($0, bodyCount) } ?? context.draw.below(bodyCount))
    return end(ending)
  }

  mutating func say(nothing ending: Ending) -> Bool {
    statusLine = nil
    body = []
    return end(ending)
  }

  /// The first bytes one by one. Nobody stays for more.
  mutating func trickle(every seconds: Double) -> Bool {
    guard case .file(let file, let range)? = body.first, !range.isEmpty,
      let bytes = file.bytes(range.lowerBound..<min(range.upperBound, range.lowerBound + 600))
    else { return false }
    body = [.trickle(bytes, every: seconds)]
    return end(.close)
  }

  mutating func slow(to rate: Int64) -> Bool {
    guard bodyCount > 0 else { return false }
    self.rate = rate
    return true
  }
}
