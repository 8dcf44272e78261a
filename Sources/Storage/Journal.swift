import Crypto
import System

/// The append-only record of verified blocks: a hint that a resume re-hashes, never a proof.
///
/// Header, 64 bytes: the magic (20 bytes), the identity of the resource (32), the first 12 bytes of
/// the SHA-256 of both. Then records of 32 bytes: first block and number of blocks (64-bit,
/// big-endian), the first 16 bytes of `SHA-256(identity ‖ position ‖ first ‖ count)`, so that a
/// record counts only where it was written and for the resource it was written for.
package final class Journal: Sendable {
  private let file: any File
  private let identity: Digest
  private let position: Monitor<Int64>

  /// What the journal said when it was opened.
  package let claims: [Range<Int64>]
  /// Whether the header or a whole record was not as it was written. A record cut short at the end is
  /// what a crash leaves, and no damage.
  package let isDamaged: Bool

  private static let magic = Array("fetchres journal v1\n".utf8)
  private static let headerSize = 64
  private static let recordSize = 32
  /// More than enough for one record per block of the largest resource, merged in runs.
  private static let maximumRecords: Int64 = 1 << 22
  private static let recordsAtOnce: Int64 = 1 << 13

  /// Opens the journal `name` of the resource with this identity, making or replacing it where it is
  /// missing or of another one. Claims outside `0..<blockCount` are dropped as damage.
  package init(
    in directory: any Directory, name: String, identity: Digest, blockCount: Int64
  ) throws(SystemError) {
    self.identity = identity
    file = try directory.openFile(name, .create(permissions: 0o600))
    let size = try file.status().size
    let header = Self.header(identity)
    var claims: [Range<Int64>] = []
    var isDamaged = false
    var records: Int64 = 0
    if try file.read(count: Self.headerSize, at: 0) == header {
      records = min(
        Self.maximumRecords, (size - Int64(Self.headerSize)) / Int64(Self.recordSize))
      // Piece by piece: a journal that somebody blew up costs time, and no memory.
      for first in stride(from: 0, to: records, by: Int(Self.recordsAtOnce)) {
        let bytes = try file.read(
          count: Int(min(Self.recordsAtOnce, records - first)) * Self.recordSize,
          at: Int64(Self.headerSize) + first * Int64(Self.recordSize))
        for offset in 0..<bytes.count / Self.recordSize {
          let start = offset * Self.recordSize
          let record = Array(bytes[start..<start + Self.recordSize])
          let range = Self.range(record)
          guard let range, range.upperBound <= blockCount,
            record == Self.record(range, at: first + Int64(offset), identity)
          else {
            isDamaged = true
            continue
          }
          claims.append(range)
        }
      }
    } else {
      isDamaged = size > 0
      try file.truncate(to: 0)
      try file.writeAll(header)
      try file.sync()
    }
    self.claims = claims
    self.isDamaged = isDamaged
    position = Monitor(records)
  }

  /// Appends what was verified, and makes it durable. The blocks themselves have to be durable before.
  package func append(_ ranges: [Range<Int64>]) throws(SystemError) {
    guard !ranges.isEmpty else { return }
    let index = position.look { $0 }
    var bytes: [UInt8] = []
    for (offset, range) in ranges.enumerated() {
      bytes += Self.record(range, at: index + Int64(offset), identity)
    }
    try file.writeAll(bytes, at: Int64(Self.headerSize) + index * Int64(Self.recordSize))
    try file.sync()
    position.change { $0 = index + Int64(ranges.count) }
  }

  private static func header(_ identity: Digest) -> [UInt8] {
    let start = magic + identity.bytes
    return start + SHA256.digest(start).bytes.prefix(headerSize - start.count)
  }

  private static func record(
    _ range: Range<Int64>, at index: Int64, _ identity: Digest
  ) -> [UInt8] {
    let numbers = bigEndian(range.lowerBound) + bigEndian(range.upperBound - range.lowerBound)
    let checksum = SHA256.digest(identity.bytes + bigEndian(index) + numbers)
    return numbers + checksum.bytes.prefix(recordSize - numbers.count)
  }

  private static func range(_ record: [UInt8]) -> Range<Int64>? {
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
      bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
    let (first, count) = (number(record[0..<8]), number(record[8..<16]))
    guard first < 1 << 40, count > 0, count < 1 << 40 else { return nil }
    return Int64(first)..<Int64(first + count)
  }

  private static func bigEndian(_ number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) }
  }
}
