import Download
import Failure
import System

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
    let lock = try directory.lock()
    let isDry = arguments.has("--dry-run")
    let unfinished = directory.unfinishedWork()
    var freed: Int64 = 0
    let kept = arguments.has("--all") ? nil : newest(unfinished, directory)
    for name in directory.partialNames() where name != kept {
      Output.line(Path.join(directory.path, ".fetchres/partial/\(name)"))
      freed += unfinished.first { PartialResource.name(of: $0.manifest) == name }?.bytesOnDisk ?? 0
      if !isDry { try directory.removeUnfinished(name, lock) }
    }
    if arguments.has("--old-versions"), let kept = directory.available {
      for version in directory.completedVersions()
      where version.manifest.version != kept.manifest.version {
        Output.line(Path.join(directory.path, version.manifest.version))
        freed += version.manifest.layout.size
        if !isDry { try directory.remove(version) }
      }
    }
    Talk.note("\(isDry ? "would free" : "freed") about \(Quantities.shown(freed))")
    return 0
  }

  /// The name of the work on a version that is newer than all that is complete; nil if there is none.
  private static func newest(
    _ unfinished: [ResourceDirectory.UnfinishedWork], _ directory: ResourceDirectory
  ) -> String? {
    let complete = directory.completedVersions().map(\.manifest.release).max() ?? -1
    let newest = unfinished.map(\.manifest).max { $0.release < $1.release }
    return newest.flatMap { $0.release > complete ? PartialResource.name(of: $0) : nil }
  }
}
