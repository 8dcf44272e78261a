import Failure

/// A command: its words, its help, and what it does. Help, completion and the manual page are all made
/// from it.
struct CommandSpec: Sendable {
  var name: String
  /// A command line that does what most want of it.
  var example: String
  /// How its operands are written.
  var operands: String
  /// The words that its first operand may be; where that is none of them, it is something else.
  var verbs: [String] = []
  var summary: String
  private var ownOptions: [OptionSpec]
  var notes: String?
  var operandCount: ClosedRange<Int>
  /// Whether it lets the caller fill in the configuration, because that depends on the origin.
  var configuresItself: Bool
  var run: @Sendable (ParsedArguments) throws(FetchFailure) -> Int32

  init(
    name: String, example: String, operands: String, verbs: [String] = [], summary: String,
    options: [OptionSpec], notes: String? = nil, operandCount: ClosedRange<Int>,
    configuresItself: Bool = false,
    run: @escaping @Sendable (ParsedArguments) throws(FetchFailure) -> Int32
  ) {
    (self.name, self.example, self.operands) = (name, example, operands)
    (self.verbs, self.summary, ownOptions, self.notes) = (verbs, summary, options, notes)
    (self.operandCount, self.configuresItself, self.run) = (operandCount, configuresItself, run)
  }

  /// All options, those of every command included.
  var allOptions: [OptionSpec] {
    ownOptions + (ownOptions.contains(where: \.isConfigurable) ? [.config] : []) + [.help]
  }

  /// The options that help, completion and manual page show.
  var options: [OptionSpec] { allOptions.filter { !$0.isHidden } }

  var usage: String { "fetchres \(name) \(operands)" }

  func option(_ name: String) -> OptionSpec? { allOptions.first { $0.names.contains(name) } }

  /// The usage, in as many lines as it needs.
  private var usageLines: [String] {
    var lines = [""]
    for (index, way) in operands.split(separator: " | ").enumerated() {
      let word = index == 0 ? String(way) : "| \(way)"
      let last = lines[lines.count - 1]
      if !last.isEmpty, last.count + word.count > 70 {
        lines.append(word)
      } else {
        lines[lines.count - 1] = last.isEmpty ? word : "\(last) \(word)"
      }
    }
    let start = "usage: fetchres \(name) "
    return lines.enumerated().map { index, line in
      (index == 0 ? start : String(repeating: " ", count: start.count)) + line
    }
  }

  var help: String {
    var lines = ["example: \(example)", ""] + usageLines + ["", summary]
    if let notes { lines += ["", notes] }
    lines.append("")
    let width = min(30, (options.map(\.label.count).max() ?? 0) + 2)
    for option in options {
      let label = "  " + option.label
      let gap = String(repeating: " ", count: max(2, width + 2 - label.count))
      lines.append(label + gap + option.help)
    }
    return lines.joined(separator: "\n")
  }
}
