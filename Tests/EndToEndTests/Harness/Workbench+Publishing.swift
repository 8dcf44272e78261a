import System
import Testing

/// What else than publishing a file the program does to the site of a workbench.
extension Workbench {
  /// Runs `publish` with a mode; the site is named, and the key if it signs.
  func mode(
    _ words: String..., signs: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    try fetchres.run(
      ["publish"] + words + ["--site", site.path] + (signs ? ["--key", site.keyFile] : []),
      sourceLocation: sourceLocation)
  }

  func refresh(_ words: String...) throws -> Outcome {
    try fetchres.run(
      ["publish", "--refresh", "--site", site.path, "--key", site.keyFile] + words)
  }

  /// The publish of a small file, which may be refused.
  func publishing(_ version: String, _ words: String..., file: String = "thing.bin") throws
    -> Outcome
  {
    let input = try scratch.write("in-\(version)", randomBytes(1_000))
    return try fetchres.run(site.publishing(input, version: version, ["--as", file] + words))
  }

  func verifyLog() throws -> Outcome { try fetchres.run("log", "verify", site.path) }

  /// A copy of the site as it is now, which somebody serves.
  func mirror(_ name: String = "mirror") throws -> Origin {
    try Disk.copy(site.path, to: scratch(name))
    return try Origin(scratch(name))
  }

  /// Puts a copy that was made by `Disk.copy` in the place of the site.
  func restore(_ copy: String) throws {
    try Disk.remove(site.path)
    try Disk.copy(copy, to: site.path)
  }
}
