/// An option of a command.
struct OptionSpec: Sendable {
  /// `--name`, or `-x` for those that have only a letter.
  var name: String
  var letter: String?
  /// What its argument is called; nil for a switch.
  var argument: String?
  private var summary: String
  var repeats = false
  /// What counts where nothing is said; nil if nothing does, or if that cannot be told in a word.
  var standard: String?
  /// The words that its argument may be, where these are few.
  var choices: [String] = []
  /// Works, and is shown to nobody.
  private(set) var isHidden = false
  /// Whether the configuration may say it too.
  private(set) var isConfigurable = false
  /// Whether a section of one origin may say it: not what has to be known before the origin is.
  private(set) var isSectional = false
  /// What only one of can hold: of these the ones given where it counts most put out the others.
  private(set) var group: String?

  /// A switch.
  init(_ name: String, letter: String? = nil, _ help: String) {
    (self.name, self.letter, summary) = (name, letter, help)
  }

  /// An option with an argument.
  init(
    _ name: String, _ argument: String, repeats: Bool = false, standard: String? = nil,
    choices: [String] = [], _ help: String
  ) {
    (self.name, self.argument, summary) = (name, argument, help)
    (self.repeats, self.standard, self.choices) = (repeats, standard, choices)
  }

  var help: String { standard.map { "\(summary); default \($0)" } ?? summary }

  var label: String {
    let names = (letter.map { "\($0), " } ?? "") + name
    return argument.map { "\(names) \($0)" } ?? names
  }

  /// As the configuration calls it.
  var key: String { String(name.drop { $0 == "-" }) }

  /// All spellings.
  var names: [String] { [letter, name].compactMap { $0 } }

  var hidden: OptionSpec { changed { $0.isHidden = true } }

  /// May stand in the configuration, for all or for one origin.
  var configurable: OptionSpec {
    changed { option in
      option.isConfigurable = true
      option.isSectional = true
    }
  }

  /// May stand in the configuration, for all.
  var configurableForAll: OptionSpec { changed { $0.isConfigurable = true } }

  func oneOf(_ group: String) -> OptionSpec { changed { $0.group = group } }

  private func changed(_ body: (inout OptionSpec) -> Void) -> OptionSpec {
    var option = self
    body(&option)
    return option
  }
}

/// Options that several commands have.
extension OptionSpec {
  static let help = OptionSpec("--help", letter: "-h", "say this")
  static let config = OptionSpec("--config", "FILE", "read this configuration; none for none")
  static let stateDirectory =
    OptionSpec("--state-dir", "DIR", "where own records are kept").configurableForAll
  static let certificates =
    OptionSpec("--cacert", "FILE", "trust these certificates instead of the system's").configurable
}
