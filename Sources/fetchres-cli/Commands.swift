import Failure
import FetchResKit
import System

/// The one table of commands.
enum Commands {
  static let all: [CommandSpec] = [
    PullCommand.spec, PublishCommand.spec, KeygenCommand.spec, ServeCommand.spec,
    StatusCommand.spec, PathCommand.spec, VerifyCommand.spec, InspectCommand.spec,
    CleanCommand.spec, ProofCommand.spec, LogCommand.spec, TrustCommand.spec, IntegrityCommand.spec,
    MirrorCommand.spec, IdentityCommand.spec, DrillCommand.spec, CompletionCommand.spec,
    HelpCommand.spec,
  ]

  static func named(_ name: String) throws(FetchFailure) -> CommandSpec {
    if let spec = all.first(where: { $0.name == name }) { return spec }
    let nearest = Suggestion.nearest(to: name, among: all.map(\.name))
    throw FetchFailure(
      .usage, "there is no command '\(name)'",
      hint: nearest.map { "did you mean '\($0)'?" } ?? "'fetchres help' lists the commands")
  }

  /// Runs a command line without the program name; the exit status.
  static func run(_ arguments: [String]) -> Int32 {
    EventStamp.begin()
    HiddenArguments.hide(arguments)
    do throws(FetchFailure) {
      guard let first = arguments.first else {
        throw FetchFailure(.usage, "no command", hint: "'fetchres help' lists the commands")
      }
      let rest = Array(arguments.dropFirst())
      switch first {
      case "--version", "-V":
        Output.line("fetchres \(fetchresVersion)")
        return 0
      case "--help", "-h":
        return try run(HelpCommand.spec, rest)
      default:
        return try run(named(first), rest)
      }
    } catch {
      if wantsJSON(arguments) { PullEvents.failed(error).print() }
      Talk.error(error)
      return error.exitCode
    }
  }

  /// Whether a command line that may be wrong asks for JSON of a command that has some.
  private static func wantsJSON(_ arguments: [String]) -> Bool {
    let spec = all.first { $0.name == arguments.first }
    return spec?.option("--json") != nil && arguments.prefix { $0 != "--" }.contains("--json")
  }

  private static func run(
    _ spec: CommandSpec, _ words: [String]
  ) throws(FetchFailure) -> Int32 {
    let parsed = try ParsedArguments(words, spec)
    guard !parsed.has("--help") else {
      Output.line(spec.help)
      return 0
    }
    // The proxy has a file for it, and says so itself.
    for place in parsed.secretURLs(spec) where place != "--proxy" {
      Talk.warning(
        "a secret on the command line can be seen by others: the password or query of \(place)")
    }
    guard spec.allOptions.contains(where: \.isConfigurable), !spec.configuresItself else {
      return try spec.run(parsed)
    }
    return try spec.run(try parsed.configured(spec))
  }
}
