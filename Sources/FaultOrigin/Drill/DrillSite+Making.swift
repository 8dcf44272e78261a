import Failure
import System

/// Sites that are made for a drill, by the program under test itself.
extension DrillSite {
  /// What resources of a drill look like: how far from the size that was asked for, and how large a
  /// block.
  struct Shape: Sendable, Hashable {
    var size: Int64
    var blockSize: Int64

    /// From many small blocks, whose tree has several levels of tiles, to a single one; and the sizes
    /// around the ends of blocks.
    static func all(_ size: Int64) -> [Shape] {
      let small = max(1, min(size / 600, 16_384))
      return [
        Shape(size: size, blockSize: 65_536), Shape(size: max(0, size - 1), blockSize: small),
        Shape(size: size, blockSize: 16_384),
        Shape(size: min(size, 2 * 65_536 + 1), blockSize: 65_536),
        Shape(size: min(size, 1 << 20), blockSize: 1 << 20), Shape(size: 1, blockSize: 4_096),
        Shape(size: 0, blockSize: 65_536),
      ]
    }
  }

  /// Publishes two versions of a resource, and beside them all that a lying origin may show instead:
  /// the log before the last version, a fork of it of the same length and a longer one, another
  /// resource, and another file of the same size.
  init(
    _ shape: Shape, executable: String, in scratch: String
  ) throws(FetchFailure) {
    let workshop = Workshop(executable: executable, scratch: scratch)
    try doing("cannot make a site in \(scratch)") { () throws(SystemError) in
      try PlainDisk.makeDirectory(scratch)
      for name in ["before", "previous"] { try PlainDisk.makeDirectory("\(scratch)/\(name)") }
    }
    let key = try workshop.makeKey("example.org/drill", "key")
    try workshop.copy("key", to: ["key-same", "key-longer"])
    _ = try workshop.makeKey("example.org/other", "key-other")

    let (old, new) = (min(shape.size, 100_000), shape.size)
    try workshop.write("v1", .noise(1), old)
    try workshop.write("v2", .noise(2), new)
    try workshop.publish("v1", "site", "v1", "key", shape.blockSize)
    try workshop.copy("site/manifest", to: ["before/manifest"])
    try workshop.copy("site/checkpoint", to: ["before/checkpoint"])
    try workshop.publish("v2", "site", "v2", "key", shape.blockSize)

    try workshop.write("fork", .noise(3), 1_000)
    for (site, versions) in [("same", ["v1", "v2"]), ("longer", ["v1", "v2", "v3"])] {
      for version in versions {
        try workshop.publish("fork", site, version, "key-\(site)", shape.blockSize)
      }
    }
    try workshop.publish("fork", "other", "v2", "key-other", shape.blockSize)
    for name in ["previous/releases", "previous/releases/v2"] {
      try doing("cannot make a site in \(scratch)") { () throws(SystemError) in
        try PlainDisk.makeDirectory("\(scratch)/\(name)")
      }
    }
    try workshop.write("previous/releases/v2/drill.bin", .noise(4), new)

    path = "\(scratch)/site"
    self.key = key
    func release(_ version: String, _ size: Int64) -> Release {
      Release(
        version: version, file: "drill.bin", size: size, blockSize: shape.blockSize,
        source: "\(scratch)/\(version)")
    }
    newest = release("v2", new)
    releases = ["v1": release("v1", old), "v2": newest]
    alternatives = [
      .previousFile: "\(scratch)/previous", .previousManifest: "\(scratch)/before",
      .foreignManifest: "\(scratch)/other", .unloggedManifest: "\(scratch)/same",
      .reusedVersion: "\(scratch)/same", .olderCheckpoint: "\(scratch)/before",
      .forkedLog: "\(scratch)/same", .longerFork: "\(scratch)/longer",
      .checkpointBehind: "\(scratch)/before",
    ]
  }
}

/// Runs the program to publish.
private struct Workshop {
  let executable: String
  let scratch: String

  func makeKey(_ origin: String, _ name: String) throws(FetchFailure) -> String {
    let output = try run(["keygen", origin, "--out", "\(scratch)/\(name)"])
    return String(output.prefix { !$0.isNewline })
  }

  func publish(
    _ file: String, _ site: String, _ version: String, _ key: String, _ blockSize: Int64
  ) throws(FetchFailure) {
    _ = try run([
      "publish", "\(scratch)/\(file)", "--site", "\(scratch)/\(site)", "--version", version,
      "--key", "\(scratch)/\(key)", "--block-size", "\(blockSize)", "--as", "drill.bin",
    ])
  }

  func copy(_ name: String, to others: [String]) throws(FetchFailure) {
    try doing("cannot make a site in \(scratch)") { () throws(SystemError) in
      let bytes = try PlainDisk.read("\(scratch)/\(name)")
      for other in others {
        try PlainDisk.write("\(scratch)/\(other)", bytes, permissions: 0o600)
      }
    }
  }

  func write(_ name: String, _ made: MadeBytes, _ size: Int64) throws(FetchFailure) {
    try doing("cannot make a site in \(scratch)") { () throws(SystemError) in
      let file = try Descriptor.open(
        "\(scratch)/\(name)", Descriptor.writeOnly | Descriptor.create, permissions: 0o644)
      for start in stride(from: 0, to: size, by: 1 << 20) {
        try file.writeStream(made.bytes(start..<min(size, start + 1 << 20)))
      }
    }
  }

  private func run(_ arguments: [String]) throws(FetchFailure) -> String {
    let child = try doing("cannot start \(executable)") { () throws(SystemError) in
      try ChildProcess(executable, arguments, environment: DrillEnvironment.variables(scratch))
    }
    guard let end = child.wait(within: 300), end.ending == .exited(0) else {
      let said = String(decoding: child.error, as: UTF8.self).split(separator: "\n").first ?? ""
      throw FetchFailure(
        .unavailable, "the drill cannot make its site: \(arguments[0]) failed: \(said)")
    }
    return String(decoding: child.output, as: UTF8.self)
  }
}

/// The environment of everything that a drill starts: nothing of the user's own.
enum DrillEnvironment {
  static func variables(_ home: String) -> [String] {
    var variables = [
      "HOME=\(home)", "XDG_STATE_HOME=\(home)/state", "XDG_CONFIG_HOME=\(home)/config",
      "NO_COLOR=1",
    ]
    for name in ["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"] {
      if let value = ThisProcess.environment(name) { variables.append("\(name)=\(value)") }
    }
    #if FETCHRES_MUTANTS
      if let chosen = Mutant.chosen { variables.append("\(Mutant.variable)=\(chosen.rawValue)") }
    #endif
    return variables
  }
}
