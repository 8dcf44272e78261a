import Crypto
import Download
import Failure
import FetchResKit
import Manifest
import SignedNote
import Storage
import System

/// Which resource directory a command means: the one named, `.` if it is one, else the only child of
/// `.` that is one.
enum ChosenDirectory {
  static func open(_ arguments: ParsedArguments) throws(FetchFailure) -> ResourceDirectory {
    try open(arguments.operands.first)
  }

  static func open(_ named: String?) throws(FetchFailure) -> ResourceDirectory {
    let fileSystem = RealFileSystem()
    if let path = named {
      guard let directory = try ResourceDirectory(path, fileSystem) else {
        throw FetchFailure(.unavailable, "there is no directory \(path)")
      }
      return directory
    }
    guard let here = try ResourceDirectory(".", fileSystem) else {
      throw FetchFailure(.unavailable, "the working directory is gone")
    }
    if try here.origin() != nil { return here }
    var children: [ResourceDirectory] = []
    for name in ((try? here.directory.entries()) ?? []).sorted() {
      guard (try? here.directory.status(name))?.kind == .directory,
        let child = try? ResourceDirectory(name, fileSystem), (try? child.origin()) != nil
      else { continue }
      children.append(child)
    }
    guard children.count == 1 else {
      throw FetchFailure(
        children.isEmpty ? .unavailable : .usage,
        children.isEmpty
          ? "there is no resource here"
          : "several resources are here: \(children.map(\.path).joined(separator: ", "))",
        hint: "name a directory that 'fetchres pull' filled")
    }
    return children[0]
  }
}

/// `fetchres path`.
enum PathCommand {
  static let spec = CommandSpec(
    name: "path", operands: "[DIR]",
    summary: "Print the path of the newest complete file; exit 1 if there is none.",
    options: [], operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let directory = try ChosenDirectory.open(arguments)
    guard let version = directory.available else {
      throw FetchFailure(
        .unavailable, "no complete version is in \(directory.path)",
        hint: "fetch one with 'fetchres pull'")
    }
    Output.line(directory.filePath(version))
    return 0
  }
}

/// `fetchres status`.
enum StatusCommand {
  static let spec = CommandSpec(
    name: "status", operands: "[DIR] [--json]",
    summary: "Say which versions are complete, what is unfinished, and how the sources stand.",
    options: [
      OptionSpec("--json", "one JSON object"),
      OptionSpec("--state-dir", "DIR", "where own records are kept"),
    ],
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let directory = try ChosenDirectory.open(arguments)
    let current = directory.current?.manifest.version
    let complete = directory.completedVersions()
    let unfinished = directory.unfinishedWork()
    let sources = try sources(arguments, try directory.origin())
    if arguments.has("--json") {
      var line = JSONLine()
      line.add("directory", directory.path)
      line.add("origin", try directory.origin()?.name)
      line.add("current", current)
      line.add(
        "complete",
        complete.map { version in
          var entry = describe(version.manifest)
          entry.add("path", directory.filePath(version))
          return entry
        })
      line.add(
        "unfinished",
        unfinished.map { work in
          var entry = describe(work.manifest)
          entry.add("onDisk", work.bytesOnDisk)
          return entry
        })
      line.add("sources", sources.map { describe($0) })
      line.print()
      return 0
    }
    Output.line("\(directory.path): \(try directory.origin()?.name ?? "no origin")")
    for version in complete {
      let mark = version.manifest.version == current ? " (current)" : ""
      Output.line(
        "  \(version.manifest.version)\(mark): complete, release \(version.manifest.release), "
          + "\(Quantities.shown(version.manifest.layout.size))")
    }
    for work in unfinished {
      Output.line(
        "  \(work.manifest.version): unfinished, about \(Quantities.shown(work.bytesOnDisk)) of "
          + "\(Quantities.shown(work.manifest.layout.size)) on disk")
    }
    if complete.isEmpty, unfinished.isEmpty { Output.line("  nothing yet") }
    for source in sources { Output.line("  \(shown(source))") }
    return 0
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
    return line
  }
}

/// `fetchres verify`.
enum VerifyCommand {
  static let spec = CommandSpec(
    name: "verify", operands: "[DIR] [--json]",
    summary: "Hash every complete version again; exit 4 if a byte is not what was signed.",
    options: [OptionSpec("--json", "one JSON object a line")],
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let directory = try ChosenDirectory.open(arguments)
    let complete = directory.completedVersions()
    guard !complete.isEmpty else {
      throw FetchFailure(.unavailable, "no complete version is in \(directory.path)")
    }
    var worst: FetchFailure?
    for version in complete {
      let found: Digest = try Verification.root(of: version, in: directory)
      let holds = found == version.manifest.root
      if arguments.has("--json") {
        var line = JSONLine("verified")
        line.add("version", version.manifest.version)
        line.add("holds", holds)
        line.add("root", found.description)
        line.print()
      } else if holds {
        Output.line("\(directory.filePath(version)): holds")
      }
      guard !holds else { continue }
      worst = FetchFailure(
        .blockMismatch,
        "\(directory.filePath(version)) hashes to \(found) instead of \(version.manifest.root)",
        hint: "remove \(Path.join(directory.path, version.manifest.version)) and pull again")
      if let worst { Talk.error(worst) }
    }
    return worst?.exitCode ?? 0
  }
}

/// `fetchres clean`.
enum CleanCommand {
  static let spec = CommandSpec(
    name: "clean", operands: "[DIR] [--old-versions] [--dry-run]",
    summary: "Remove unfinished work, and complete versions but the current one if asked.",
    options: [
      OptionSpec("--old-versions", "remove complete versions other than the current one too"),
      OptionSpec("--dry-run", "say what would go, and remove nothing"),
    ],
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let directory = try ChosenDirectory.open(arguments)
    try directory.clean(
      try directory.lock(), oldVersions: arguments.has("--old-versions"),
      isDry: arguments.has("--dry-run")
    ) { Output.line($0) }
    return 0
  }
}
