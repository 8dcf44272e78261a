import Failure
import FetchResKit
import System

/// The one table of commands.
enum Commands {
  static let all: [CommandSpec] = [
    PullCommand.spec, PublishCommand.spec, KeygenCommand.spec, ServeCommand.spec,
    StatusCommand.spec, PathCommand.spec, VerifyCommand.spec, InspectCommand.spec,
    CleanCommand.spec, ProofCommand.spec, LogCommand.spec, TrustCommand.spec, IntegrityCommand.spec,
    MirrorCommand.spec, IdentityCommand.spec, DrillCommand.spec,
  ]

  /// Runs a command line without the program name; the exit status.
  static func run(_ arguments: [String]) -> Int32 {
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
      case "--help", "-h", "help":
        return try help(rest)
      default:
        break
      }
      guard let spec = all.first(where: { $0.name == first }) else {
        throw unknown(first)
      }
      let parsed = try ParsedArguments(rest, spec)
      if parsed.has("--help") {
        Output.line(spec.help)
        return 0
      }
      return try spec.run(parsed)
    } catch {
      Talk.error(error)
      return error.exitCode
    }
  }

  private static func help(_ arguments: [String]) throws(FetchFailure) -> Int32 {
    guard let name = arguments.first else {
      Output.line(overview)
      return 0
    }
    guard let spec = all.first(where: { $0.name == name }) else { throw unknown(name) }
    Output.line(spec.help)
    return 0
  }

  private static func unknown(_ name: String) -> FetchFailure {
    let nearest = all.map(\.name).min { distance($0, name) < distance($1, name) }
    let hint =
      nearest.flatMap { distance($0, name) <= 2 ? "did you mean '\($0)'?" : nil }
      ?? "'fetchres help' lists the commands"
    return FetchFailure(.usage, "there is no command '\(name)'", hint: hint)
  }

  private static var overview: String {
    let width = (all.map(\.name.count).max() ?? 0) + 2
    let commands = all.map { spec in
      "  " + spec.name + String(repeating: " ", count: width - spec.name.count) + spec.summary
    }
    return """
      fetchres fetches large files from servers that need not be trusted, verifies every block
      before it is written, and can be stopped at any moment.

      usage: fetchres COMMAND …

      \(commands.joined(separator: "\n"))

      'fetchres help COMMAND' says more. 'fetchres --version' prints the version.
      Exit codes: 0 done; 1 not available; 2 usage; 3 network gave out, run again; 4 nothing that
      verifies; 5 trust refused; 6 storage; 7 locked by another run; 8 newer version or old one gone;
      129, 130, 143 hung up, interrupted, terminated.
      """
  }

  /// The Levenshtein distance.
  private static func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    var row = Array(0...other.count)
    for (index, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in other.indices {
        let above = row[column + 1]
        row[column + 1] = min(
          above + 1, row[column] + 1, diagonal + (byte == other[column] ? 0 : 1))
        diagonal = above
      }
    }
    return row[other.count]
  }
}
