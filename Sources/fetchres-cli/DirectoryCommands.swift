import Crypto
import Download
import Failure
import FetchResKit
import Manifest
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
    if here.isResource { return here }
    var children: [ResourceDirectory] = []
    for name in ((try? here.directory.entries()) ?? []).sorted() {
      guard (try? here.directory.status(name))?.kind == .directory,
        let child = try? ResourceDirectory(name, fileSystem), child.isResource
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
    name: "path",
    example: "fetchres path world",
    operands: "[DIR]",
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

/// `fetchres verify`.
enum VerifyCommand {
  static let spec = CommandSpec(
    name: "verify",
    example: "fetchres verify world",
    operands: "[DIR] [--json]",
    summary: "Hash every complete version again; exit 4 if a byte is not what was signed.",
    options: [OptionSpec("--json", "one JSON object a line")],
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let directory = try ChosenDirectory.open(arguments)
    let (complete, damaged) = (directory.completedVersions(), directory.damagedVersions())
    guard !complete.isEmpty || !damaged.isEmpty else {
      throw FetchFailure(
        .unavailable, "no complete version is in \(directory.path)",
        hint: "fetch one with 'fetchres pull'")
    }
    var worst: FetchFailure?
    for version in damaged {
      let path = Path.join(directory.path, version)
      worst = FetchFailure(
        .blockMismatch,
        "\(path) is not what was finished there: its file, its size or its manifest",
        hint: "remove \(path) and pull again")
      if let worst { Talk.error(worst) }
    }
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
    guard let worst else { return 0 }
    if arguments.has("--json") { PullEvents.failed(worst).print() }
    return worst.exitCode
  }
}
