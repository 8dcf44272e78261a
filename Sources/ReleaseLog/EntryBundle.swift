import Failure
import MerkleTree

/// Up to 256 log entries in a row (C2SP tlog-tiles): each a 16-bit big-endian length and its bytes.
package struct EntryBundle: Sendable, Equatable {
  package var entries: [[UInt8]]

  /// The largest bundle: 256 entries of 65,535 bytes.
  package static let maximumByteCount = maximumByteCount(width: Tile.width)

  /// The largest bundle of `width` entries.
  package static func maximumByteCount(width: Int) -> Int { width * (2 + 65_535) }

  package init(entries: [[UInt8]]) {
    precondition(
      entries.count <= Tile.width && entries.allSatisfy { $0.count <= 65_535 },
      "ReleaseLog: no such bundle")
    self.entries = entries
  }

  /// Takes the first `width` entries of a bundle apart. What follows them has to be entries too.
  ///
  /// - Throws: `tile-invalid`.
  package init(_ bytes: [UInt8], width: Int) throws(FetchFailure) {
    var entries: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard rest.count >= 2 else { throw Self.malformed(entries.count) }
      let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
      rest = rest.dropFirst(2)
      guard rest.count >= length, entries.count < Tile.width else {
        throw Self.malformed(entries.count)
      }
      entries.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    guard entries.count >= width else { throw Self.malformed(entries.count) }
    self.entries = Array(entries.prefix(width))
  }

  package var bytes: [UInt8] {
    entries.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
  }

  private static func malformed(_ entry: Int) -> FetchFailure {
    FetchFailure(.tileInvalid, "the entry bundle is malformed at entry \(entry)")
  }
}
