import Failure
import FetchResKit

/// `fetchres mirror`.
enum MirrorCommand {
  static let spec = CommandSpec(
    name: "mirror",
    example: "fetchres mirror add maps.example.com/world https://cdn.example.com/world/",
    operands: "add ORIGIN URL | list ORIGIN | remove ORIGIN URL",
    verbs: ["add", "list", "remove"],
    summary: "Keep further places to fetch a resource from, at most eight.",
    options: [OptionSpec.stateDirectory],
    notes: """
      A mirror has what the publisher's site has, and need not be trusted: all that comes from it is
      verified. A pull that runs sees a change within two seconds.
      """,
    operandCount: 2...3, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let list = try MirrorList(stateDirectory: arguments.value("--state-dir"))
    let operands = arguments.operands
    switch (operands[0], operands.count) {
    case ("add", 3):
      let url = try list.add(operands[1], operands[2])
      Output.line(url)
      if url.hasPrefix("http:") {
        Talk.note(
          "over plain http others on the way see what is fetched; they cannot change it unseen")
      }
    case ("list", 2):
      for url in try list.list(operands[1]) { Output.line(url) }
    case ("remove", 3):
      try list.remove(operands[1], operands[2])
    default:
      throw FetchFailure(
        .usage, "'mirror \(operands[0])' is not what 'mirror' takes",
        hint: "mirror \(spec.operands)")
    }
    return 0
  }
}
