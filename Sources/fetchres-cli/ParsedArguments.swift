import Failure

/// What was given on the command line, taken apart, and what the configuration adds.
struct ParsedArguments: Sendable {
  private(set) var operands: [String] = []
  private var values: [String: [String]] = [:]
  /// Where the values of an option stand, for those that were not typed.
  private var places: [String: String] = [:]
  /// The groups of which something was given.
  private var groups: Set<String> = []
  /// What the configuration says, and something of its group that was typed puts out.
  private(set) var putOut: [Setting] = []

  /// - Throws: `usage`, naming the word.
  init(_ words: [String], _ spec: CommandSpec) throws(FetchFailure) {
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
      try take(word, &rest, spec)
    }
    guard !has("--help") else { return }
    guard spec.operandCount.contains(operands.count) else {
      throw FetchFailure(
        .usage, "\(spec.name) takes \(spec.operands)", hint: "usage: \(spec.usage)")
    }
    if let first = operands.first, !spec.verbs.contains(first),
      let nearest = Suggestion.nearest(to: first, among: spec.verbs)
    {
      throw FetchFailure(
        .usage, "'\(spec.name) \(first)' is not what '\(spec.name)' takes",
        hint: "did you mean '\(spec.name) \(nearest)'?")
    }
  }

  private mutating func take(
    _ word: String, _ rest: inout ArraySlice<String>, _ spec: CommandSpec
  ) throws(FetchFailure) {
    let hint = "'fetchres help \(spec.name)' lists the options"
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = word.hasPrefix("--") ? String(parts[0]) : word
    guard let option = spec.option(name) else {
      let nearest = Suggestion.nearest(to: name, among: spec.options.map(\.name))
      throw FetchFailure(
        .usage, "there is no option '\(name)' here",
        hint: nearest.map { "did you mean '\($0)'? \(hint)" } ?? hint)
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
    if let group = option.group { groups.insert(group) }
  }

  /// What of the command line is a URL with a secret in it: operands as such, options by name.
  func secretURLs(_ spec: CommandSpec) -> [String] {
    let urls = spec.allOptions.filter { $0.argument == "URL" && isTyped($0.name) }.map(\.name)
    return operands.filter { HiddenArguments.isSecretURL($0) }.map { _ in "the URL" }
      + urls.filter { all($0).contains { HiddenArguments.isSecretURL($0) } }
  }

  func has(_ option: String) -> Bool { values[option] != nil }

  func value(_ option: String) -> String? { values[option]?.last }

  func all(_ option: String) -> [String] { values[option] ?? [] }

  /// Whether the values of an option were typed, where others can see them.
  func isTyped(_ option: String) -> Bool { has(option) && places[option] == nil }

  /// The line of the configuration that an option comes from; nil if it was typed, or is not given.
  func place(_ option: String) -> String? { places[option] }

  /// The value of an option by a parser that answers nil for what it does not take.
  ///
  /// - Throws: `usage`.
  func parse<Value>(
    _ option: String, _ what: String, _ parser: (String) -> Value?
  ) throws(FetchFailure) -> Value? {
    guard let text = value(option) else { return nil }
    guard let value = parser(text) else {
      let place = places[option].map { " (\($0))" } ?? ""
      throw FetchFailure(.usage, "'\(text)' is no \(what) for \(option)\(place)")
    }
    return value
  }

  /// Takes the values of options that were not given before, nor put out by others of their group.
  mutating func fill(_ settings: [Setting]) {
    var fresh: Set<String> = []
    for setting in settings {
      let option = setting.option
      let isTaken = values[option.name] != nil || option.group.map { groups.contains($0) } ?? false
      if !isTaken, !setting.isOff { fresh.insert(option.name) }
    }
    putOut += settings.filter { setting in
      !setting.isOff && setting.option.group.map { groups.contains($0) } ?? false
    }
    for setting in settings where fresh.contains(setting.option.name) {
      values[setting.option.name, default: []].append(setting.value)
      places[setting.option.name] = setting.place
    }
    for setting in settings {
      if let group = setting.option.group { groups.insert(group) }
    }
  }
}
