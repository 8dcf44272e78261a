import Crypto
import Failure

/// The constants of C2SP tlog-tiles: tiles of height 8.
public enum Tile {
  public static let height = 8
  public static let width = 256
  /// The largest level that a path may name.
  static let maximumLevel = 63
}

/// Where a hash tile stands: tile level, index on that level and the number of hashes, 1 to 256.
public struct TileAddress: Sendable, Hashable {
  public let level: Int
  public let index: Int64
  public let width: Int

  /// Requires `0 <= level <= 63`, `index >= 0` and `1 <= width <= 256`.
  public init(level: Int, index: Int64, width: Int = Tile.width) {
    precondition(
      (0...Tile.maximumLevel).contains(level) && index >= 0 && (1...Tile.width).contains(width),
      "MerkleTree: no such tile")
    (self.level, self.index, self.width) = (level, index, width)
  }

  public var isFull: Bool { width == Tile.width }

  /// The exact number of bytes of the tile.
  public var byteCount: Int { width * Digest.byteCount }

  /// `tile/<level>/<index>[.p/<width>]` (C2SP tlog-tiles).
  public var path: String {
    "tile/\(level)/\(Self.groups(index))" + (isFull ? "" : ".p/\(width)")
  }

  /// `tile/entries/<index>[.p/<width>]`: the bundle of the log entries `index`·256 and on.
  public static func entriesPath(index: Int64, width: Int) -> String {
    "tile/entries/\(groups(index))" + (width == Tile.width ? "" : ".p/\(width)")
  }

  /// The strict reverse of `path`.
  public init(path: String) throws(FetchFailure) {
    let refusal = FetchFailure(.tileInvalid, "'\(path.shortened(to: 100))' is no tile path")
    var parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0] == "tile", let level = Decimal.decode(parts[1]),
      level <= Tile.maximumLevel
    else { throw refusal }
    parts.removeFirst(2)
    var width = Tile.width
    if parts.count >= 2, parts[parts.count - 2].hasSuffix(".p") {
      guard let partial = Decimal.decode(parts[parts.count - 1]),
        (1..<Int64(Tile.width)).contains(partial)
      else { throw refusal }
      width = Int(partial)
      parts.removeLast()
      parts[parts.count - 1].removeLast(2)
    }
    guard let index = Self.index(groups: parts) else { throw refusal }
    (self.level, self.index, self.width) = (Int(level), index, width)
  }

  /// Groups of three digits, all but the last with an `x` in front.
  private static func groups(_ index: Int64) -> String {
    var (rest, text) = (index, "")
    repeat {
      let digits = String(rest % 1_000)
      let group = String(repeating: "0", count: 3 - digits.count) + digits
      text = text.isEmpty ? group : "x\(group)/\(text)"
      rest /= 1_000
    } while rest > 0
    return text
  }

  private static func index(groups: [Substring]) -> Int64? {
    var index: Int64 = 0
    for (position, group) in groups.enumerated() {
      let isLast = position == groups.count - 1
      guard isLast || group.first == "x" else { return nil }
      let digits = isLast ? group : group.dropFirst()
      guard digits.utf8.count == 3,
        digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
        let value = Int64(digits), isLast || position > 0 || value > 0
      else { return nil }
      let (shifted, overflow) = index.multipliedReportingOverflow(by: 1_000)
      let (sum, overflowToo) = shifted.addingReportingOverflow(value)
      guard !overflow, !overflowToo else { return nil }
      index = sum
    }
    return groups.isEmpty ? nil : index
  }
}

/// The hashes of a tile whose length is right and whose content nothing has proven yet.
public struct SuspectTile: Sendable {
  public let address: TileAddress
  public let bytes: [UInt8]

  /// Refuses bytes that are not exactly `address.width` hashes (`tile-invalid`).
  public init(_ address: TileAddress, _ bytes: [UInt8]) throws(FetchFailure) {
    guard bytes.count == address.byteCount else {
      throw FetchFailure(
        .tileInvalid, "\(address.path) has \(bytes.count) bytes instead of \(address.byteCount)")
    }
    (self.address, self.bytes) = (address, bytes)
  }

  var hashes: [Digest] {
    bytes.withUnsafeBytes { raw in
      (0..<address.width).map { slot in
        Digest(
          copying: UnsafeRawBufferPointer(
            rebasing: raw[slot * Digest.byteCount..<(slot + 1) * Digest.byteCount]))
      }
    }
  }
}
