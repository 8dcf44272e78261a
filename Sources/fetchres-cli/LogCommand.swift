import Failure
import Publishing

/// `fetchres log`.
enum LogCommand {
  static let spec = CommandSpec(
    name: "log",
    example: "fetchres log verify site",
    operands: "verify SITE",
    verbs: ["verify"],
    summary: "Recompute the release log of a site and the tree of every release from disk.",
    options: [],
    notes: "Exits 0 if all of it holds, and 4 at the first difference, which it names.",
    operandCount: 2...2, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    guard arguments.operands[0] == "verify" else {
      throw FetchFailure(.usage, "usage: fetchres log \(spec.operands)")
    }
    let site = arguments.operands[1]
    do throws(FetchFailure) {
      let summary = try LogVerification(site: site) { Talk.note($0) }.run()
      for version in summary.pruned { Output.line("\(version): pruned, its manifest is kept") }
      Output.line("\(site): \(summary.releases) releases of \(summary.versions) versions hold")
      return 0
    } catch {
      // Whatever the category: the site is not what was signed.
      guard [4, 5].contains(error.exitCode) || error.category == .sizeMismatch else { throw error }
      Talk.error(error)
      return 4
    }
  }
}
