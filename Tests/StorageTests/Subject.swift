import Glibc
import Storage
import System
import TestSupport
import Testing

/// An implementation under test.
enum Subject: Sendable, CaseIterable {
  case memory
  /// What lies below the directory for temporary files.
  case temporaryDirectory
  case sharedMemory

  static var available: [Subject] { allCases.filter { $0.base != nil } }

  /// Whether the file system below may be one that shares no blocks.
  var mayLackClones: Bool { self != .memory }

  func umask() throws -> UInt32 {
    guard self != .memory else { return 0o022 }
    let status = try RealFileSystem().openFile("/proc/self/status").text()
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Umask:") })
    return try #require(UInt32(line.suffix(4), radix: 8))
  }

  /// Lends an empty directory.
  func withDirectory(_ body: (any Directory) throws -> Void) throws {
    try withPath { _, _, directory in try body(directory) }
  }

  /// Lends an empty directory, and its path.
  func withPath(
    _ body: (any FileSystem, String, any Directory) throws -> Void
  ) throws {
    let base = try #require(base)
    let fileSystem: any FileSystem = self == .memory ? MemoryFileSystem() : RealFileSystem()
    let name = "fetchres-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    try fileSystem.makeDirectories("\(base)/\(name)", permissions: 0o700)
    let parent = try fileSystem.openDirectory(base)
    defer { #expect(throws: Never.self) { try parent.removeTree(name) } }
    try body(fileSystem, "\(base)/\(name)", try parent.openDirectory(name))
  }

  private var base: String? {
    switch self {
    case .memory: "/tmp"
    case .temporaryDirectory: ThisProcess.environment("TMPDIR") ?? "/tmp"
    case .sharedMemory:
      (try? RealFileSystem().openDirectory("/dev/shm")).map { _ in "/dev/shm" }
    }
  }
}

/// Fails unless `body` fails with one of these codes.
func expectFailure(
  _ codes: Int32..., sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
  do { try body() } catch let error as SystemError {
    #expect(codes.contains(error.code), "\(error)", sourceLocation: sourceLocation)
    return
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
    return
  }
  Issue.record("worked", sourceLocation: sourceLocation)
}

/// Bytes that differ from page to page.
func pattern(count: Int, seed: UInt8) -> [UInt8] {
  var random = SeededGenerator(seed: UInt64(seed))
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count {
    withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
  }
  return Array(bytes.prefix(count))
}

extension Directory {
  /// Writes a new file without syncing anything.
  func put(_ name: String, _ text: String) throws {
    try openFile(name, .createNew(permissions: 0o600)).writeAll(Array(text.utf8))
  }

  func text(_ name: String) throws -> String { try openFile(name, .read).text() }
}

extension File {
  func text() throws -> String {
    String(decoding: try bytes(at: 0, count: 10_000), as: UTF8.self)
  }

  func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: count)
    let got = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
    return Array(bytes.prefix(got))
  }
}
