import Foundation
import Glibc
import System

/// A directory of one test, in memory where the system has room for that; gone when the last
/// reference goes.
final class Scratch: Sendable {
  let path: String

  /// - Parameter base: where the directory is made, if not in the usual place.
  init(in base: String? = nil) throws {
    let base = base ?? Self.base
    path = "\(base)/fetchres-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  static let base =
    FileManager.default.isWritableFile(atPath: "/dev/shm")
    ? "/dev/shm" : ThisProcess.environment("TMPDIR") ?? "/tmp"

  /// The name of the directory without what is above it.
  var name: String { String(path.split(separator: "/").last ?? "") }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file into the directory; its path.
  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Disk.write(self(name), bytes)
    return self(name)
  }
}

/// What tests look up and do on disk, behind the back of the program.
enum Disk {
  static func write(_ path: String, _ bytes: [UInt8]) throws {
    try FileManager.default.createDirectory(
      atPath: Path.parent(path), withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  static func read(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  static func names(in path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  static func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

  static func copy(_ path: String, to target: String) throws {
    try FileManager.default.copyItem(atPath: path, toPath: target)
  }

  static func move(_ path: String, to target: String) throws {
    try FileManager.default.moveItem(atPath: path, toPath: target)
  }

  static func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  static func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }

  static func linkTarget(_ path: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: path)
  }

  /// Of the name itself, never of what a symbolic link points to; nil if there is nothing.
  static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  static func exists(_ path: String) -> Bool { status(path) != nil }

  static func permissions(_ path: String) -> mode_t? { status(path).map { $0.st_mode & 0o7777 } }

  /// Bytes that the file takes on disk, holes not counted.
  static func allocated(_ path: String) -> Int64? { status(path).map { Int64($0.st_blocks) * 512 } }

  /// Overwrites bytes in the middle of a file, and nothing else of it.
  static func poke(_ path: String, at offset: Int64, _ bytes: [UInt8]) throws {
    let file = try Descriptor.open(path, Descriptor.readWrite)
    try bytes.withUnsafeBytes { try file.write($0, at: offset) }
  }

  /// Flips the lowest bit of a byte.
  static func flip(_ path: String, at offset: Int64) throws {
    try poke(path, at: offset, [try peek(path, at: offset, count: 1)[0] ^ 1])
  }

  static func peek(_ path: String, at offset: Int64, count: Int) throws -> [UInt8] {
    let file = try Descriptor.open(path, Descriptor.readOnly)
    var bytes = [UInt8](repeating: 0, count: count)
    let found = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
    return Array(bytes[..<found])
  }

  static func truncate(_ path: String, to size: Int64) throws {
    let file = try Descriptor.open(
      path, Descriptor.readWrite | Descriptor.create, permissions: 0o644)
    try file.truncate(to: size)
  }

  /// What this process takes away from the permissions of new files.
  static let umask: mode_t = {
    let line = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix("Umask:") }
    return line.flatMap { mode_t($0.suffix(4), radix: 8) } ?? 0o022
  }()
}

/// Bytes that no other call has given before.
func randomBytes(_ count: Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: count)
  bytes.withUnsafeMutableBytes { buffer in
    guard !buffer.isEmpty, let file = fopen("/dev/urandom", "r") else { return }
    fread(buffer.baseAddress!, 1, buffer.count, file)
    fclose(file)
  }
  return bytes
}

/// Compares as fast as memory allows, also in a debug build.
func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
  one.count == other.count && areEqual(one, other, in: 0..<one.count)
}

/// Compares one range of both, which have to be long enough.
func areEqual(_ one: [UInt8], _ other: [UInt8], in range: Range<Int>) -> Bool {
  guard !range.isEmpty else { return true }
  return one.withUnsafeBytes { one in
    other.withUnsafeBytes { other in
      memcmp(
        one.baseAddress! + range.lowerBound, other.baseAddress! + range.lowerBound, range.count)
        == 0
    }
  }
}
