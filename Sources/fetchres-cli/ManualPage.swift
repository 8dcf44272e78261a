/// The manual page, in mdoc, made from the table of commands.
enum ManualPage {
  /// When what it says changed last.
  private static let date = "November 30, 2026"

  static var text: String {
    let commands = Commands.all.map(section).joined(separator: "\n")
    return """
      .\\" Made from the table of commands by: fetchres help --man
      .Dd \(date)
      .Dt FETCHRES 1
      .Os
      .Sh NAME
      .Nm fetchres
      .Nd fetch large files from servers that need not be trusted
      .Sh SYNOPSIS
      .Nm
      .Ar COMMAND
      .Op Ar argument ...
      .Sh DESCRIPTION
      \(paragraph(HelpCommand.purpose))
      .Pp
      Standard output holds the result alone, talk goes to standard error.
      With
      .Fl Fl json
      there is one JSON object a line on standard output instead.
      .Sh COMMANDS
      \(commands)
      .Sh ENVIRONMENT
      .Bl -tag -width Ds
      \(environment.map { ".It Ev \($0.name)\n\(paragraph($0.meaning))" }.joined(separator: "\n"))
      .El
      .Sh FILES
      .Bl -tag -width Ds
      \(files.map { ".It Pa \($0.name)\n\(paragraph($0.meaning))" }.joined(separator: "\n"))
      .El
      .Sh EXIT STATUS
      .Bl -tag -width Ds
      \(HelpCommand.exitCodes.map { ".It \($0.code)\n\(paragraph($0.meaning))" }.joined(separator: "\n"))
      .El
      .Sh EXAMPLES
      Make a key, publish a version, serve it, fetch it, and ask where it is:
      .Bd -literal -offset indent
      \(examples.map { literal($0) }.joined(separator: "\n"))
      .Ed

      """
  }

  static let environment: [(name: String, meaning: String)] = [
    ("HOME", "Where configuration and own records are, where the two below are not set."),
    ("XDG_CONFIG_HOME", "The configuration is fetchres/config in it."),
    ("XDG_STATE_HOME", "Own records are in fetchres in it."),
    ("STATE_DIRECTORY", "Own records, where neither of these nor HOME is set, as in services."),
    (
      "http_proxy",
      "The proxy for plain http; all_proxy counts for both, no_proxy names exceptions."
    ),
    ("https_proxy", "The proxy for https."),
    ("NO_COLOR", "If it is set and not empty, nothing is coloured."),
    ("TERM", "If it is dumb, nothing is drawn."),
  ]

  private static let files: [(name: String, meaning: String)] = [
    ("~/.config/fetchres/config", "What counts where the command line says nothing."),
    ("~/.local/state/fetchres", "Own records: keys that are trusted, logs that were seen."),
    ("DIR/.fetchres", "Unfinished work on a resource."),
    ("DIR/VERSION/complete", "The marker of a version that is whole."),
  ]

  private static let examples = [
    KeygenCommand.spec, PublishCommand.spec, ServeCommand.spec, PullCommand.spec, PathCommand.spec,
  ].map(\.example)

  private static func section(_ command: CommandSpec) -> String {
    var lines = [
      ".Ss \(command.name)", paragraph(command.summary), ".Bd -literal -offset indent",
      literal(command.usage), literal(command.example), ".Ed",
    ]
    if let notes = command.notes { lines += [".Pp", paragraph(notes)] }
    lines.append(".Bl -tag -width Ds")
    for option in command.options { lines += [".It \(label(option))", paragraph(option.help)] }
    return (lines + [".El"]).joined(separator: "\n")
  }

  private static func label(_ option: OptionSpec) -> String {
    let names = option.names.map { name in
      name.hasPrefix("--")
        ? "Fl Fl \(escaped(String(name.dropFirst(2))))" : "Fl \(name.dropFirst())"
    }.joined(separator: " , ")
    return names + (option.argument.map { " Ar \(escaped($0))" } ?? "")
  }

  /// Running text in which nothing is an instruction; a sentence begins on a line of its own.
  private static func paragraph(_ text: String) -> String {
    literal(text.replacing(". ", with: ".\n"))
  }

  /// Lines as they are.
  private static func literal(_ text: String) -> String {
    text.split(separator: "\n").map { line in
      let line = escaped(String(line))
      return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }.joined(separator: "\n")
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case _ where scalar.isASCII: escaped.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        escaped += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
      }
    }
    return escaped
  }
}
