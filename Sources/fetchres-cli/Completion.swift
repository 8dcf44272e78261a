/// The words of all commands as shells want them.
enum Completion {
  /// What an argument is, as far as a shell can help with it.
  enum Kind: Equatable {
    case nothing
    case file
    case directory
    case choice([String])
  }

  static func kind(of option: OptionSpec) -> Kind? {
    guard let argument = option.argument else { return nil }
    if !option.choices.isEmpty { return .choice(option.choices) }
    switch argument {
    case "FILE", "PLAN": return .file
    case "DIR", "SITE": return .directory
    default: return .nothing
    }
  }

  /// The words that the first operand may be.
  static func verbs(of command: CommandSpec, _ commands: [CommandSpec]) -> [String] {
    command.name == HelpCommand.spec.name
      ? commands.map(\.name) + HelpCommand.topics : command.verbs
  }

  static let head = "made by 'fetchres completion'; write no changes into it"

  /// In single quotes, for sh and its kin.
  static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
