import Failure
import FetchResKit

/// `fetchres help`.
enum HelpCommand {
  static let spec = CommandSpec(
    name: "help", example: "fetchres help pull", operands: "[COMMAND | config]",
    summary: "Say what the commands are, or what one of them takes.",
    options: [
      OptionSpec.config, OptionSpec("--man", "print the manual page").hidden,
    ],
    notes: """
      'fetchres help config' says what counts without a command line, and where each value comes from.
      """,
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    if arguments.has("--man") {
      Output.write(ManualPage.text)
    } else if arguments.operands == topics {
      Output.line(EffectiveSettings(configuration: try Configuration.load(arguments)).text)
    } else if let name = arguments.operands.first {
      Output.line(try Commands.named(name).help)
    } else {
      Output.line(overview)
    }
    return 0
  }

  /// What else there is help for.
  static let topics = ["config"]

  static let exitCodes: [(code: String, meaning: String)] = [
    ("0", "done"), ("1", "not available"), ("2", "usage"), ("3", "network gave out, run again"),
    ("4", "nothing that verifies"), ("5", "trust refused"), ("6", "storage"),
    ("7", "locked by another run"), ("8", "newer version or old one gone"),
    ("129, 130, 143", "hung up, interrupted, terminated"),
  ]

  static let purpose = """
    fetchres fetches large files from servers that need not be trusted, verifies every block
    before it is written, and can be stopped at any moment.
    """

  static var overview: String {
    let width = (Commands.all.map(\.name.count).max() ?? 0) + 2
    let commands = Commands.all.map { spec in
      "  " + spec.name + String(repeating: " ", count: width - spec.name.count) + spec.summary
    }
    return """
      example: \(PullCommand.spec.example)

      usage: fetchres COMMAND …

      \(purpose)

      \(commands.joined(separator: "\n"))

      'fetchres help COMMAND' says more. 'fetchres --version' prints the version.
      Exit codes:
      \(exitCodes.map { "  \($0.code): \($0.meaning)" }.joined(separator: "\n"))
      """
  }
}
