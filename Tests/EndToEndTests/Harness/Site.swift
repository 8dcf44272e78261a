import System
import Testing

/// A site that the program itself published, under a key of its own.
struct Site: Sendable {
  let fetchres: Fetchres
  let path: String
  let origin: String
  let keyFile: String
  /// The public key.
  let key: String

  /// The block size of most tests.
  static let blockSize = 65_536

  init(
    _ fetchres: Fetchres, at path: String, origin: String = "example.org/thing",
    keyFile: String? = nil
  ) throws {
    self.fetchres = fetchres
    self.path = path
    self.origin = origin
    self.keyFile = keyFile ?? "\(fetchres.home)/\(Path.name(path)).key"
    let made = try fetchres.run("keygen", origin, "--out", self.keyFile)
    try #require(made.exitCode == 0, "\(made.testDescription)")
    key = made.line
  }

  /// Publishes, which has to succeed.
  @discardableResult
  func publish(
    _ bytes: [UInt8], version: String = "v1", file: String = "thing.bin",
    blockSize: Int? = Self.blockSize, _ more: [String] = []
  ) throws -> Release {
    let input = "\(fetchres.home)/input/\(version)-\(file)"
    try Disk.write(input, bytes)
    let outcome = try fetchres.run(
      publishing(input, version: version, blockSize: blockSize, ["--as", file] + more))
    try #require(outcome.exitCode == 0, "\(outcome.testDescription)")
    return Release(
      version: version, file: file, bytes: bytes, blockSize: blockSize ?? Self.blockSize)
  }

  /// The arguments that publish a file here.
  func publishing(
    _ input: String, version: String = "v1", blockSize: Int? = Self.blockSize,
    _ more: [String] = []
  ) -> [String] {
    ["publish", input, "--site", path, "--version", version, "--key", keyFile]
      + (blockSize.map { ["--block-size", "\($0)"] } ?? []) + more
  }

  func manifest(_ version: String? = nil) throws -> [UInt8] {
    try Disk.read(manifestPath(version))
  }

  /// What a line of a manifest says behind its word; nil if there is none.
  func field(_ word: String, _ version: String? = nil) throws -> String? {
    String(decoding: try manifest(version), as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("\(word) ") }.map { String($0.dropFirst(word.count + 1)) }
  }

  func manifestPath(_ version: String? = nil) -> String {
    version.map { "\(path)/releases/\($0)/manifest" } ?? "\(path)/manifest"
  }
}

/// What was published, as the test knows it.
struct Release: Sendable {
  let version: String
  let file: String
  let bytes: [UInt8]
  let blockSize: Int

  var blockCount: Int { (bytes.count + blockSize - 1) / blockSize }

  /// The path of the data on any server, percent-decoded.
  var dataPath: String { "/releases/\(version)/\(file)" }

  var tilePath: String { "/releases/\(version)/tile/" }

  /// The bytes of a block, as offsets.
  func range(of block: Int) -> Range<Int> {
    block * blockSize..<min(bytes.count, (block + 1) * blockSize)
  }
}
