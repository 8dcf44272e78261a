import Download
import Failure

/// `fetchres clean`.
enum CleanCommand {
  static let spec = CommandSpec(
    name: "clean",
    example: "fetchres clean world --dry-run",
    operands: "[DIR] [--all] [--old-versions] [--dry-run]",
    summary: "Remove what no pull goes on with, and old versions if asked.",
    options: [
      OptionSpec("--all", "remove the unfinished work on the newest version too"),
      OptionSpec("--old-versions", "remove complete versions other than the current one too"),
      OptionSpec("--dry-run", "say what would go, and remove nothing"),
    ],
    notes: """
      Unfinished work on the newest version stays, unless --all is given: a pull goes on with it.
      Prints what goes, a line each, and says how much that frees.
      """,
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let directory = try ChosenDirectory.open(arguments)
    guard directory.isResource else {
      Talk.note("nothing in \(directory.path) is of fetchres")
      return 0
    }
    let isDry = arguments.has("--dry-run")
    let freed = try directory.clean(
      try directory.lock(), all: arguments.has("--all"),
      oldVersions: arguments.has("--old-versions"), isDry: isDry
    ) { Output.line($0) }
    Talk.note("\(isDry ? "would free" : "freed") about \(Quantities.shown(freed))")
    return 0
  }
}
