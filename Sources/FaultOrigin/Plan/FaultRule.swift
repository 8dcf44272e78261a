/// One line of a plan: a fault, what it applies to, and when.
///
///     FAULT [name=value]… [on TARGET,…] [chance N%] [every N] [first N] [after N requests|after SIZE bytes]
///
/// Requests are counted per port, and only those that the rule applies to; bytes are all that the port
/// has sent. `after` comes first, then `first`, then `every`, then `chance`.
package struct FaultRule: Sendable, Equatable {
  package var fault: Fault
  package var arguments: [FaultArgument: String] = [:]
  package var targets: [FaultTarget]
  package var chance: Double?
  package var every: Int64?
  package var first: Int64?
  package var afterRequests: Int64 = 0
  package var afterBytes: Int64 = 0
  /// As it was written.
  package var text: String

  /// Why a line is no rule.
  package struct Malformed: Error, Equatable {
    package var message: String
    package var hint: String?
  }

  package init(_ text: String) throws(Malformed) {
    self.text = text
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)[...]
    guard let name = words.popFirst(), let fault = Fault(rawValue: name) else {
      throw Malformed(
        message: "there is no fault '\(text.split(separator: " ").first ?? "")'",
        hint: "'fetchres serve --list-faults' lists them")
    }
    self.fault = fault
    let facts = fault.facts
    targets = facts.targets
    while let word = words.popFirst() {
      switch word {
      case "on":
        targets = try Self.next(&words, word) { Self.targets($0) }
      case "chance": chance = try Self.next(&words, word) { PlanText.share($0) }
      case "every": every = try Self.next(&words, word) { Self.positive($0) }
      case "first": first = try Self.next(&words, word) { PlanText.number($0) }
      case "after":
        let amount = try Self.next(&words, word) { PlanText.size($0) }
        switch words.popFirst() {
        case "requests": afterRequests = amount
        case "bytes": afterBytes = amount
        default: throw Malformed(message: "'after \(amount)' needs 'requests' or 'bytes' behind it")
        }
      default:
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let argument = FaultArgument(rawValue: String(parts[0])) else {
          throw Malformed(message: "'\(word)' means nothing in a rule")
        }
        guard facts.arguments.contains(argument) else {
          throw Malformed(message: "\(name) takes no '\(argument.rawValue)='")
        }
        guard Self.isValid(argument, parts[1]) else {
          throw Malformed(message: "'\(parts[1])' is no value for '\(argument.rawValue)='")
        }
        arguments[argument] = String(parts[1])
      }
    }
  }

  /// Whether it serves files from another directory and does not say from which. A drill has one for
  /// each such fault.
  var lacksDirectory: Bool { fault.facts.arguments.contains(.from) && arguments[.from] == nil }

  private static func next<Value>(
    _ words: inout ArraySlice<String>, _ name: String, _ parse: (String) -> Value?
  ) throws(Malformed) -> Value {
    guard let word = words.popFirst() else {
      throw Malformed(message: "'\(name)' needs something behind it")
    }
    guard let value = parse(word) else {
      throw Malformed(
        message: "'\(word)' means nothing behind '\(name)'",
        hint: name == "on" ? "there are \(FaultTarget.words)" : nil)
    }
    return value
  }

  private static func targets(_ text: String) -> [FaultTarget]? {
    var targets: [FaultTarget] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let target = FaultTarget(word) else { return nil }
      targets.append(target)
    }
    return targets
  }

  private static func positive(_ text: String) -> Int64? {
    PlanText.number(text).flatMap { $0 > 0 ? $0 : nil }
  }

  private static func isValid(_ argument: FaultArgument, _ value: Substring) -> Bool {
    switch argument {
    case .bytes: PlanText.size(value) != nil
    case .rate: PlanText.size(value).map { $0 > 0 } ?? false
    case .time: PlanText.time(value) != nil
    case .status: PlanText.number(value).map { 200...599 ~= $0 } ?? false
    case .retryAfter, .from, .to:
      // Goes into a header or a path.
      !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }
  }
}
