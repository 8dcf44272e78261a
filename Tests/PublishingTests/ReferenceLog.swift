import Crypto
import MerkleTree

/// A log by the definitions of RFC 9162 and C2SP tlog-tiles, with all its leaves in hand.
struct ReferenceLog {
  var entries: [[UInt8]]

  init(_ entries: [[UInt8]]) { self.entries = entries }

  static func leaf(_ bytes: [UInt8]) -> [UInt8] { SHA256.digest([0] + bytes).bytes }

  /// MTH(D[n]).
  static func root(_ leaves: ArraySlice<[UInt8]>) -> [UInt8] {
    switch leaves.count {
    case 0: return SHA256.digest([]).bytes
    case 1: return leaves[leaves.startIndex]
    default:
      var split = 1
      while split * 2 < leaves.count { split *= 2 }
      let middle = leaves.startIndex + split
      return SHA256.digest([1] + root(leaves[..<middle]) + root(leaves[middle...])).bytes
    }
  }

  func root(size: Int) -> [UInt8] { Self.root(entries.prefix(size).map(Self.leaf)[...]) }

  /// Every hash tile of a tree with those leaves, by path.
  static func tiles(_ leaves: [[UInt8]]) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    var (level, hashes) = (0, leaves)
    while !hashes.isEmpty {
      for start in stride(from: 0, to: hashes.count, by: 256) {
        let inside = hashes[start..<min(start + 256, hashes.count)]
        let name = "tile/\(level)/" + Self.name(start / 256, inside.count)
        files[name] = inside.flatMap { $0 }
      }
      hashes = stride(from: 0, to: hashes.count - 255, by: 256).map { root(hashes[$0..<$0 + 256]) }
      level += 1
    }
    return files
  }

  /// Every bundle of the log, by path.
  var bundles: [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for start in stride(from: 0, to: entries.count, by: 256) {
      let inside = entries[start..<min(start + 256, entries.count)]
      files["tile/entries/" + Self.name(start / 256, inside.count)] = inside.flatMap {
        [UInt8($0.count / 256), UInt8($0.count % 256)] + $0
      }
    }
    return files
  }

  /// For up to 256,000 leaves.
  private static func name(_ index: Int, _ width: Int) -> String {
    let digits = String(index)
    return String(repeating: "0", count: 3 - digits.count) + digits
      + (width == 256 ? "" : ".p/\(width)")
  }
}
