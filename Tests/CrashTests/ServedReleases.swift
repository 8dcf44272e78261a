import Failure
import Manifest
import Publishing
import SignedNote
import Storage
import System
import TestSupport

/// What a server has at some time: the files of a site, and the releases that were published by then.
struct ServedReleases {
  private(set) var files: [String: [UInt8]] = [:]
  /// What the file of each version holds.
  private(set) var contents: [String: [UInt8]] = [:]
  private(set) var newest: (version: String, note: [UInt8]) = ("", [])

  /// Two versions that share blocks, and each of them signed again.
  ///
  /// - Parameter steps: `1.0`, `2.0` publishes that version; `refresh` signs the newest again.
  init(_ steps: [String], key: String) throws {
    let fileSystem = MemoryFileSystem()
    try fileSystem.makeDirectories("/in", permissions: 0o700)
    try fileSystem.openDirectory("/in").replaceFile("key", Array(key.utf8), permissions: 0o600)
    for (number, step) in steps.enumerated() {
      let time = UTCDate(seconds: 1_800_000_000 + Int64(number))
      let publisher = Publisher(fileSystem: fileSystem, now: { time }) { _ in }
      if step == "refresh" {
        _ = try publisher.refresh(
          Publisher.RefreshRequest(site: "/site", keyFiles: ["/in/key"]))
        continue
      }
      let content = Self.content(step)
      contents[step] = content
      try fileSystem.openDirectory("/in").replaceFile("world.map", content)
      var request = PublishRequest(
        file: "/in/world.map", site: "/site", version: step, keyFiles: ["/in/key"])
      request.blockSize = Self.blockSize
      _ = try publisher.publish(request)
    }
    try collect(fileSystem, "/site", "")
    let version = steps.last { $0 != "refresh" } ?? ""
    newest = (version, files[SitePaths.manifest] ?? [])
  }

  static let blockSize: Int64 = 4_096

  /// Seven blocks, the last one short. The second one is zeros; those from the fourth on stand one
  /// place further on in version 2.0, whose second is its own.
  private static func content(_ version: String) -> [UInt8] {
    func block(_ seed: UInt64, _ count: Int = Int(blockSize)) -> [UInt8] {
      var random = SeededGenerator(seed: seed)
      return (0..<count).map { _ in UInt8.random(in: 1...255, using: &random) }
    }
    let zeros = [UInt8](repeating: 0, count: Int(blockSize))
    return version == "1.0"
      ? block(1) + zeros + block(2) + block(3) + block(4) + block(5) + block(6, 1_000)
      : block(1) + zeros + block(7) + block(2) + block(3) + block(4) + block(5) + block(8, 1_500)
  }

  private mutating func collect(
    _ fileSystem: MemoryFileSystem, _ path: String, _ name: String
  ) throws {
    let directory = try fileSystem.openDirectory(path)
    for entry in try directory.entries() where !entry.hasPrefix(".") {
      let inside = name.isEmpty ? entry : Path.join(name, entry)
      if try directory.status(entry).kind == .directory {
        try collect(fileSystem, Path.join(path, entry), inside)
      } else {
        files[inside] = try directory.readFile(entry, limit: 1 << 20)
      }
    }
  }
}
