import Crypto
import Glibc
import System
import Testing

/// What a pull leaves on disk, looked at without the help of the program.
struct PulledDirectory: Sendable {
  let path: String

  private var partial: String { "\(path)/.fetchres/partial" }

  var partialNames: [String] { Disk.names(in: partial) }

  /// The version-scoped directory of the only unfinished release.
  func onlyPartial(sourceLocation: SourceLocation = #_sourceLocation) throws -> Partial {
    try #require(partialNames.count == 1, "\(partialNames)", sourceLocation: sourceLocation)
    return Partial(path: "\(partial)/\(partialNames[0])")
  }

  var partials: [Partial] { partialNames.map { Partial(path: "\(partial)/\($0)") } }

  /// The versions that have a marker, valid or not.
  var markers: [String] {
    Disk.names(in: path).filter { $0 != "current" && Disk.exists("\(path)/\($0)/complete") }
  }

  var current: String? { Disk.linkTarget("\(path)/current") }

  /// Fails unless every byte of `release` that is on disk is right or was never written.
  func expectNothingWrong(
    _ release: Release, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var files = ["\(path)/\(release.version)/\(release.file)"]
    for partial in partials where partial.version == release.version {
      files += [partial.blocks, "\(partial.path)/ready/\(release.file)"]
    }
    for file in files where Disk.exists(file) {
      let wrong = Self.firstWrong(try Disk.read(file), release.bytes)
      #expect(wrong == nil, "of \(file)", sourceLocation: sourceLocation)
    }
  }

  /// The first byte that is neither zero nor right.
  static func firstWrong(_ bytes: [UInt8], _ right: [UInt8]) -> Int? {
    guard bytes.count <= right.count else { return right.count }
    if bytes.count == right.count, areEqual(bytes, right) { return nil }
    let page = 4_096
    for start in stride(from: 0, to: bytes.count, by: page) {
      let part = start..<min(bytes.count, start + page)
      if areEqual(bytes, right, in: part) || isZero(bytes, in: part) { continue }
      if let wrong = part.first(where: { bytes[$0] != 0 && bytes[$0] != right[$0] }) {
        return wrong
      }
    }
    return nil
  }

  private static func isZero(_ bytes: [UInt8], in range: Range<Int>) -> Bool {
    bytes.withUnsafeBytes { bytes in
      // All are the same as their neighbours, and the first is zero.
      bytes[range.lowerBound] == 0
        && memcmp(
          bytes.baseAddress! + range.lowerBound, bytes.baseAddress! + range.lowerBound + 1,
          range.count - 1) == 0
    }
  }

  /// `DIR/.fetchres/partial/<version>-<root>/`.
  struct Partial: Sendable {
    let path: String

    var version: String {
      let name = path.split(separator: "/").last ?? ""
      return String(name.dropLast(17))
    }

    var blocks: String { "\(path)/blocks" }
    var snapshot: String { "\(path)/manifest" }
    var tiles: String { "\(path)/tiles" }
    var journal: JournalFile { JournalFile(path: "\(path)/journal") }

    /// The blocks of `release` that are on disk, whole and right.
    func present(_ release: Release) throws -> Set<Int> {
      guard Disk.exists(blocks) else { return [] }
      let bytes = try Disk.read(blocks)
      return Set(
        (0..<release.blockCount).filter { block in
          let range = release.range(of: block)
          return range.upperBound <= bytes.count && areEqual(bytes, release.bytes, in: range)
        })
    }
  }
}

/// The journal on disk, read and written by its description alone.
struct JournalFile: Sendable {
  let path: String

  static let headerSize = 64
  static let recordSize = 32

  /// The blocks that its records name.
  func claims() throws -> Set<Int> {
    guard Disk.exists(path) else { return [] }
    let bytes = try Disk.read(path)
    var blocks: Set<Int> = []
    var start = Self.headerSize
    while start + Self.recordSize <= bytes.count {
      let first = Self.number(bytes[start..<start + 8])
      blocks.formUnion(first..<first + Self.number(bytes[start + 8..<start + 16]))
      start += Self.recordSize
    }
    return blocks
  }

  /// Adds a valid record for blocks that nobody wrote.
  func forge(_ blocks: Range<Int>) throws {
    var bytes = try Disk.read(path)
    let identity = Array(bytes[20..<52])
    let index = (bytes.count - Self.headerSize) / Self.recordSize
    let numbers = Self.bytes(blocks.lowerBound) + Self.bytes(blocks.count)
    bytes += numbers + SHA256.digest(identity + Self.bytes(index) + numbers).bytes.prefix(16)
    try Disk.write(path, bytes)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  private static func bytes(_ number: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }
}
