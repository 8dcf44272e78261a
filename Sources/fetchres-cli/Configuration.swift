import Failure
import SignedNote
import Storage
import System

/// The configuration file: lines `option value`, named as the long options, first those for all, then
/// under `[origin NAME]` those for one origin. A switch stands alone, or with `yes` or `no`. Lines that
/// are empty or begin with `#` say nothing.
struct Configuration: Sendable {
  /// Nil if there is none.
  let path: String?
  private(set) var common: [Setting] = []
  private(set) var sections: [(origin: Origin, settings: [Setting])] = []

  static let none = Configuration()
  private static let maximumByteCount = 65_536

  private init() { path = nil }

  /// Reads the file that `--config` names, else the user's own, which need not be there.
  ///
  /// - Throws: `usage`, naming file and line.
  static func load(_ arguments: ParsedArguments) throws(FetchFailure) -> Configuration {
    let chosen = arguments.value(OptionSpec.config.name)
    if chosen == "none" { return .none }
    guard let path = chosen ?? standardPath else { return .none }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try RealFileSystem().openFile(path).readAll(path, limit: maximumByteCount)
    } catch {
      if chosen == nil, error.code == SystemError.notFound { return .none }
      throw error.failure("cannot read the configuration \(path)")
    }
    return try Configuration(bytes, path: path)
  }

  /// `$XDG_CONFIG_HOME/fetchres/config`, else `$HOME/.config/fetchres/config`; nil without either.
  static var standardPath: String? {
    func variable(_ name: String) -> String? {
      ThisProcess.environment(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    if let config = variable("XDG_CONFIG_HOME") { return Path.join(config, "fetchres/config") }
    return variable("HOME").map { Path.join($0, ".config/fetchres/config") }
  }

  /// - Throws: `usage`, naming the line.
  init(
    _ bytes: [UInt8], path: String, options: [OptionSpec] = Configuration.options
  ) throws(FetchFailure) {
    self.path = path
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FetchFailure(.usage, "the configuration \(path) is no UTF-8 text")
    }
    // A carriage return and a newline are one character.
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let place = "\(path):\(index + 1)"
      let words = Self.words(line)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      if first.hasPrefix("[") {
        sections.append((try Self.section(line, place), []))
        continue
      }
      let setting = try Self.setting(
        first, words.count == 2 ? words[1] : nil, place, options, inSection: !sections.isEmpty)
      if sections.isEmpty {
        try Self.add(setting, to: &common)
      } else {
        try Self.add(setting, to: &sections[sections.count - 1].settings)
      }
    }
  }

  /// What counts for an origin, its own lines first; without one, what is for all.
  func settings(for origin: Origin?) -> [Setting] {
    let own = sections.filter { $0.origin == origin }.flatMap(\.settings)
    return own + common.filter { setting in !own.contains { Self.putsOut($0, setting) } }
  }

  /// All options that the configuration may say, each once.
  static var options: [OptionSpec] {
    var options: [OptionSpec] = []
    for option in Commands.all.flatMap(\.allOptions) where option.isConfigurable {
      if !options.contains(where: { $0.name == option.name }) { options.append(option) }
    }
    return options
  }

  // MARK: Lines

  private static func putsOut(_ one: Setting, _ other: Setting) -> Bool {
    one.option.name == other.option.name
      || (!one.isOff && one.option.group != nil && one.option.group == other.option.group)
  }

  private static func add(
    _ setting: Setting, to settings: inout [Setting]
  ) throws(FetchFailure) {
    // What excludes each other is for the command to judge, as if it were typed.
    let isThere = settings.contains { $0.option.name == setting.option.name }
    guard !isThere || setting.option.repeats else {
      throw FetchFailure(
        .usage, "'\(setting.option.key)' is said twice (\(setting.place))",
        hint: "remove one of the lines")
    }
    settings.append(setting)
  }

  /// The first word and the rest, without the white space around them.
  private static func words(_ line: Substring) -> [String] {
    let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    return parts.map { part in
      var part = part
      while part.first?.isWhitespace == true { part.removeFirst() }
      while part.last?.isWhitespace == true { part.removeLast() }
      return String(part)
    }.filter { !$0.isEmpty }
  }

  private static func section(_ line: Substring, _ place: String) throws(FetchFailure) -> Origin {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "[origin", words[1].last == "]",
      let origin = Origin(words[1].dropLast())
    else {
      throw FetchFailure(
        .usage, "'\(line.prefix(100))' is no section (\(place))",
        hint: "a section is written [origin NAME]")
    }
    return origin
  }

  private static func setting(
    _ key: String, _ value: String?, _ place: String, _ options: [OptionSpec], inSection: Bool
  ) throws(FetchFailure) -> Setting {
    guard let option = options.first(where: { $0.key == key }) else {
      let nearest = Suggestion.nearest(to: key, among: options.map(\.key))
      throw FetchFailure(
        .usage, "the configuration has no option '\(key.prefix(100))' (\(place))",
        hint: nearest.map { "did you mean '\($0)'?" } ?? "'fetchres help config' lists them")
    }
    guard option.isSectional || !inSection else {
      throw FetchFailure(
        .usage, "'\(key)' is for all origins (\(place))", hint: "put it before the first section")
    }
    guard option.argument == nil else {
      guard let value else {
        throw FetchFailure(.usage, "'\(key)' needs \(option.argument ?? "") (\(place))")
      }
      return Setting(option: option, value: value, place: place)
    }
    switch value {
    case nil, "yes": return Setting(option: option, value: "", place: place)
    case "no": return Setting(option: option, value: "", isOff: true, place: place)
    case let value?:
      throw FetchFailure(
        .usage, "'\(value.prefix(100))' is neither yes nor no for '\(key)' (\(place))")
    }
  }
}
