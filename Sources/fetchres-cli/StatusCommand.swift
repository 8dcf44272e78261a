import Download
import Failure
import FetchResKit
import Manifest
import SignedNote
import System

/// `fetchres status`.
enum StatusCommand {
  static let spec = CommandSpec(
    name: "status",
    example: "fetchres status world",
    operands: "[DIR] [--map] [--json]",
    summary: "Say which versions are complete, what is unfinished, and how the sources stand.",
    options: [
      OptionSpec("--map", "draw which blocks are on disk"),
      OptionSpec("--json", "one JSON object"),
      OptionSpec.stateDirectory,
    ],
    notes: """
      Of a source: what it sent in the last run, what was refused of it, how often it failed in a row,
      and how long it is left alone.
      """,
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    if arguments.has("--map"), arguments.has("--json") {
      throw FetchFailure(.usage, "--map and --json exclude each other")
    }
    let directory = try ChosenDirectory.open(arguments)
    let sources = try sources(arguments, try directory.origin())
    if arguments.has("--json") {
      try json(directory, sources).print()
    } else {
      try show(directory, sources, map: arguments.has("--map"))
    }
    return 0
  }

  private static func show(
    _ directory: ResourceDirectory, _ sources: [SourceSummaries.Entry], map: Bool
  ) throws(FetchFailure) {
    let (complete, unfinished) = (directory.completedVersions(), directory.unfinishedWork())
    let current = directory.current?.manifest.version
    let now = Clocks.wall()
    Output.line("\(directory.path): \(try directory.origin()?.name ?? "no origin")")
    for version in complete {
      let manifest = version.manifest
      Output.line(
        "  \(manifest.version)\(manifest.version == current ? " (current)" : ""): complete, "
          + "release \(manifest.release), \(Quantities.shown(manifest.layout.size)), "
          + "published \(Quantities.shown(age: now - manifest.published.seconds)) ago")
      if map { draw(BlockMap(full: manifest.layout.count)) }
    }
    for work in unfinished {
      Output.line(
        "  \(work.manifest.version): unfinished, about \(Quantities.shown(work.bytesOnDisk)) of "
          + "\(Quantities.shown(work.manifest.layout.size)) on disk, "
          + "written \(Quantities.shown(age: now - work.lastWrite)) ago")
      if map { draw(work.map) }
    }
    if complete.isEmpty, unfinished.isEmpty { Output.line("  nothing yet") }
    for source in sources { Output.line("  \(shown(source))") }
  }

  private static func draw(_ map: BlockMap) {
    let isTerminal = Terminal.isTerminal(Terminal.standardOutput)
    var style = TerminalStyle.here
    if !isTerminal || !TerminalStyle.canDraw(term: ThisProcess.environment("TERM")) {
      style.hasColor = false
    }
    let columns = isTerminal ? Terminal.columns(Terminal.standardOutput) : 80
    for line in BlockMapView(style, columns: columns).lines(map, rows: 12) {
      Output.line(line.text)
    }
  }

  private static func json(
    _ directory: ResourceDirectory, _ sources: [SourceSummaries.Entry]
  ) throws(FetchFailure) -> JSONLine {
    let now = Clocks.wall()
    var line = JSONLine("status")
    line.add("directory", directory.path)
    line.add("origin", try directory.origin()?.name)
    line.add("current", directory.current?.manifest.version)
    line.add(
      "complete",
      directory.completedVersions().map { version in
        var entry = describe(version.manifest)
        entry.add("path", directory.filePath(version))
        return entry
      })
    line.add(
      "unfinished",
      directory.unfinishedWork().map { work in
        var entry = describe(work.manifest)
        entry.add("onDisk", work.bytesOnDisk)
        entry.add("age", max(0, now - work.lastWrite))
        return entry
      })
    line.add("sources", sources.map { describe($0) })
    return line
  }

  /// Without a place for records there are none.
  private static func sources(
    _ arguments: ParsedArguments, _ origin: Origin?
  ) throws(FetchFailure) -> [SourceSummaries.Entry] {
    guard let origin else { return [] }
    let chosen = arguments.value("--state-dir")
    do throws(FetchFailure) {
      return try SourceSummaries(stateDirectory: chosen).entries(of: origin)
    } catch {
      if chosen != nil { throw error }
      return []
    }
  }

  private static func shown(_ entry: SourceSummaries.Entry) -> String {
    var text = ProgressView.shown(entry.source)
    if entry.failures > 0 {
      text += ", \(Quantities.counted(Int64(entry.failures), "failure")) in a row"
    }
    if entry.wait > 0 { text += ", asked again in \(Quantities.shown(seconds: entry.wait))" }
    if entry.held > 0 {
      text += ", left alone for another \(Quantities.shown(seconds: entry.held))"
    }
    return text
  }

  private static func describe(_ entry: SourceSummaries.Entry) -> JSONLine {
    var line = JSONLine()
    line.add(entry.source)
    line.add("failures", Int64(entry.failures))
    line.add("wait", Int64(entry.wait.rounded(.up)))
    line.add("held", Int64(entry.held.rounded(.up)))
    return line
  }

  private static func describe(_ manifest: Manifest) -> JSONLine {
    var line = JSONLine()
    line.add("version", manifest.version)
    line.add("release", manifest.release)
    line.add("size", manifest.layout.size)
    line.add("blocks", manifest.layout.count)
    line.add("root", manifest.root.description)
    line.add("published", manifest.published.text)
    return line
  }
}
