import Failure

/// An option of a command.
struct OptionSpec: Sendable {
  /// `--name`, or `-x` for those that have only a letter.
  var name: String
  var letter: String?
  /// What its argument is called; nil for a switch.
  var argument: String?
  var help: String
  var repeats = false

  /// A switch.
  init(_ name: String, letter: String? = nil, _ help: String) {
    (self.name, self.letter, self.help) = (name, letter, help)
  }

  /// An option with an argument.
  init(_ name: String, _ argument: String, repeats: Bool = false, _ help: String) {
    (self.name, self.argument, self.help) = (name, argument, help)
    self.repeats = repeats
  }

  var label: String {
    let names = (letter.map { "\($0), " } ?? "") + name
    return argument.map { "\(names) \($0)" } ?? names
  }
}

/// A command: its words, its help, and what it does.
struct CommandSpec: Sendable {
  var name: String
  /// How its operands are written.
  var operands: String
  var summary: String
  var options: [OptionSpec]
  var notes: String?
  var operandCount: ClosedRange<Int>
  var run: @Sendable (ParsedArguments) throws(FetchFailure) -> Int32

  static let helpOption = OptionSpec("--help", letter: "-h", "say this")

  var help: String {
    var lines = ["usage: fetchres \(name) \(operands)", "", summary]
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

/// What was given on the command line, taken apart.
struct ParsedArguments: Sendable {
  private(set) var operands: [String] = []
  private var values: [String: [String]] = [:]

  /// - Throws: `usage`, naming the word.
  init(_ words: [String], _ spec: CommandSpec) throws(FetchFailure) {
    let options = spec.options + [CommandSpec.helpOption]
    let hint = "'fetchres help \(spec.name)' lists the options"
    var rest = words[...]
    var onlyOperands = false
    while let word = rest.popFirst() {
      guard !onlyOperands, word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      if word == "--" {
        onlyOperands = true
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = word.hasPrefix("--") ? String(parts[0]) : word
      guard let option = options.first(where: { $0.name == name || $0.letter == name }) else {
        throw FetchFailure(.usage, "there is no option '\(name)' here", hint: hint)
      }
      var value = ""
      if let argument = option.argument {
        if word.hasPrefix("--"), parts.count == 2 {
          value = String(parts[1])
        } else if let next = rest.popFirst() {
          value = next
        } else {
          throw FetchFailure(.usage, "\(name) needs \(argument)", hint: hint)
        }
      } else if word.hasPrefix("--"), parts.count == 2 {
        throw FetchFailure(.usage, "\(name) takes no value", hint: hint)
      }
      if !option.repeats, values[option.name] != nil, option.argument != nil {
        throw FetchFailure(.usage, "\(name) is given twice", hint: hint)
      }
      values[option.name, default: []].append(value)
    }
    guard spec.operandCount.contains(operands.count) || has("--help") else {
      throw FetchFailure(
        .usage, "\(spec.name) takes \(spec.operands)",
        hint: "usage: fetchres \(spec.name) \(spec.operands)")
    }
  }

  func has(_ option: String) -> Bool { values[option] != nil }

  func value(_ option: String) -> String? { values[option]?.last }

  func all(_ option: String) -> [String] { values[option] ?? [] }

  /// The value of an option by a parser that answers nil for what it does not take.
  ///
  /// - Throws: `usage`.
  func parse<Value>(
    _ option: String, _ what: String, _ parser: (String) -> Value?
  ) throws(FetchFailure) -> Value? {
    guard let text = value(option) else { return nil }
    guard let value = parser(text) else {
      throw FetchFailure(.usage, "'\(text)' is no \(what) for \(option)")
    }
    return value
  }
}
