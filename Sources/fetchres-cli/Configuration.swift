import Failure
import FetchResKit
import SignedNote
import Storage
import System

/// The configuration file: lines named as the long options. A switch stands alone, or with `yes` or
/// `no`.
struct Configuration: Sendable {
  /// Nil if there is none.
  let path: String?
  private(set) var common: [Setting] = []
  private(set) var sections: [(origin: Origin, settings: [Setting])] = []

  static let none = Configuration()

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
      bytes = try RealFileSystem().openFile(path).readAll(
        path, limit: ConfigurationText.maximumByteCount)
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
    let text = try ConfigurationText(bytes, path: path)
    common = try Self.settings(text.common, options, inSection: false)
    for (origin, lines) in text.sections {
      sections.append((origin, try Self.settings(lines, options, inSection: true)))
    }
  }

  /// What counts for an origin, its own lines first; without one, what is for all.
  func settings(for origin: Origin?) -> [Setting] {
    let own = sections.filter { $0.origin == origin }.flatMap(\.settings)
    return own + common.filter { setting in !own.contains { Self.putsOut($0, setting) } }
  }

  /// Whose lines count for a request; nil if only what is for all does.
  func origin(of request: PullRequest) throws(FetchFailure) -> Origin? {
    // Where nobody has lines of its own, nothing has to be known.
    sections.isEmpty ? nil : try request.configuredOrigin(among: sections.map(\.origin))
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

  private static func settings(
    _ lines: [ConfigurationText.Line], _ options: [OptionSpec], inSection: Bool
  ) throws(FetchFailure) -> [Setting] {
    var settings: [Setting] = []
    for line in lines {
      let setting = try setting(line, options, inSection: inSection)
      // What excludes each other is for the command to judge, as if it were typed.
      let isThere = settings.contains { $0.option.name == setting.option.name }
      guard !isThere || setting.option.repeats else {
        throw FetchFailure(
          .usage, "'\(setting.option.key)' is said twice (\(setting.place))",
          hint: "remove one of the lines")
      }
      settings.append(setting)
    }
    return settings
  }

  private static func setting(
    _ line: ConfigurationText.Line, _ options: [OptionSpec], inSection: Bool
  ) throws(FetchFailure) -> Setting {
    let (key, value, place) = (line.key, line.value, line.place)
    guard let option = options.first(where: { $0.key == key }) else {
      let nearest = Suggestion.nearest(to: key, among: options.map(\.key))
      throw FetchFailure(
        .usage, "the configuration has no option '\(key.shortened(to: 100))' (\(place))",
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
        .usage, "'\(value.shortened(to: 100))' is neither yes nor no for '\(key)' (\(place))")
    }
  }
}
