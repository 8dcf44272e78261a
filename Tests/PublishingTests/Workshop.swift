import Failure
import Glibc
import Publishing
import SignedNote
import Storage
import System
import TestSupport

/// A publisher's machine: keys in `/keys`, files to publish in `/in`, the site in `/site`.
struct Workshop {
  static let origin = Origin("maps.example.com/world")!
  static let site = "/site"

  let fileSystem: MemoryFileSystem
  var keys = ["/keys/first"]
  /// Moves with each release, as a clock would.
  var seconds: Int64 = 1_800_000_000

  /// A machine with two keys and some files, all of it durable.
  init() throws {
    fileSystem = MemoryFileSystem()
    try fileSystem.makeDirectories("/keys", permissions: 0o700)
    try fileSystem.makeDirectories("/in", permissions: 0o777)
    for name in ["first", "second", "third"] {
      _ = try KeyFile.generate(Self.origin, at: "/keys/\(name)", fileSystem)
    }
    for (name, bytes) in Self.files {
      try fileSystem.openDirectory("/in").replaceFile(name, bytes)
    }
  }

  private init(_ other: Workshop, _ fileSystem: MemoryFileSystem) {
    self.fileSystem = fileSystem
    (keys, seconds) = (other.keys, other.seconds)
  }

  /// The same after something has happened to its disk.
  func on(_ fileSystem: MemoryFileSystem) -> Workshop { Workshop(self, fileSystem) }

  static let files: [(String, [UInt8])] = [
    ("one", content(100, 1)), ("two", content(600, 2)), ("three", content(0, 3)),
    ("four", content(257, 4)),
  ]

  static func content(_ count: Int, _ seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  func key(_ name: String) throws -> NoteKey {
    try KeyFile("/keys/\(name)", fileSystem).key.key
  }

  /// Publishes the file `/in/<file>`. The file `two` is cut into single bytes.
  @discardableResult
  func publish(
    _ version: String, _ file: String = "one", change: (inout PublishRequest) -> Void = { _ in },
    report: @escaping (String) -> Void = { _ in }
  ) throws(FetchFailure) -> PublishResult {
    var request = PublishRequest(
      file: "/in/\(file)", site: Self.site, version: version, keyFiles: keys)
    request.blockSize = file == "one" ? 16 : 1
    change(&request)
    let time = UTCDate(seconds: seconds)
    return try Publisher(fileSystem: fileSystem, now: { time }, report: report).publish(request)
  }

  /// The bytes of a file by its path; nil if it is not there.
  func bytes(_ path: String) -> [UInt8]? {
    try? fileSystem.openFile(path).readAll(path, limit: 1 << 25)
  }

  func put(_ path: String, _ bytes: [UInt8]) throws {
    try fileSystem.makeDirectories(Path.parent(path), permissions: 0o777)
    // A key that others can read is none that is used.
    try fileSystem.openDirectory(Path.parent(path)).replaceFile(
      Path.name(path), bytes, permissions: path.hasPrefix("/keys/") ? 0o600 : 0o666)
  }

  func remove(_ path: String) throws {
    try fileSystem.openDirectory(Path.parent(path)).removeTree(Path.name(path))
  }

  /// Every file below a directory, by path; symbolic links and empty directories are left out.
  func files(below path: String = "/") throws -> [String: [UInt8]] {
    guard let directory = try? fileSystem.openDirectory(path) else { return [:] }
    var files: [String: [UInt8]] = [:]
    for name in try directory.entries() {
      let inside = Path.join(path, name)
      switch try directory.status(name).kind {
      case .directory: files.merge(try self.files(below: inside)) { first, _ in first }
      case .regular: files[inside] = try directory.readFile(name, limit: 1 << 25)
      case .symbolicLink, .other: break
      }
    }
    return files
  }
}

extension Workshop {
  /// Lets one operation of the kind fail, behind so many others: the disk is full for a moment.
  ///
  /// - Returns: how many are left until then; negative once it has failed.
  func failOnce(_ kind: MemoryFileSystem.Operation.Kind, after count: Int) -> Monitor<Int> {
    let left = Monitor(count)
    fileSystem.onOperation = { operation throws(SystemError) in
      guard operation.kind == kind else { return }
      let isDue = left.look { (left: inout Int) in
        left -= 1
        return left == -1
      }
      if isDue { throw SystemError(ENOSPC, kind.rawValue) }
    }
    return left
  }
}
