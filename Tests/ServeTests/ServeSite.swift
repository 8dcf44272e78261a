import FaultOrigin
import Foundation
import Testing

/// A directory for one test, gone with the last reference, and what stands in it.
final class ServeSite: Sendable {
  let path: String
  /// Beside the site, not in it.
  let outside: String
  private let parent: String

  init() throws {
    parent = NSTemporaryDirectory() + "/serve-tests-" + UUID().uuidString
    path = parent + "/site"
    outside = parent + "/outside"
    for directory in [path, outside] {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: parent) }

  func write(_ name: String, _ bytes: some Sequence<UInt8>) throws {
    try Self.write(path + "/" + name, bytes)
  }

  func writeOutside(_ name: String, _ bytes: some Sequence<UInt8>) throws {
    try Self.write(outside + "/" + name, bytes)
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path + "/" + name, withDestinationPath: target)
  }

  /// A file of holes.
  func makeSparse(_ name: String, size: Int64) throws {
    try write(name, [])
    guard truncate(path + "/" + name, Int(size)) == 0 else { throw POSIXError(.EIO) }
  }

  /// Overwrites bytes in place.
  func poke(_ name: String, at offset: Int64, _ bytes: [UInt8]) throws {
    let handle = try #require(FileHandle(forWritingAtPath: path + "/" + name))
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }

  func serve(connectionLimit: Int = 256, idleTimeout: Double = 60) throws -> OriginServer {
    try OriginServer(
      site: path, listen: "127.0.0.1:0", connectionLimit: connectionLimit, idleTimeout: idleTimeout)
  }

  private static func write(_ path: String, _ bytes: some Sequence<UInt8>) throws {
    let parent = (path as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }
}

/// Bytes of which every window looks different from every other.
func patternBytes(_ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8) &* 31 ^ ($0 >> 16) &* 17) }
}
