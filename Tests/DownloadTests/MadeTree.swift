import Crypto
import Failure
import MerkleTree

/// A tree over numbered leaves, with all its tiles.
struct MadeTree {
  let root: Digest
  private(set) var tiles: [TileAddress: [UInt8]] = [:]

  init(leaves: some Sequence<Digest>) {
    var builder = TreeBuilder()
    var tiles: [TileAddress: [UInt8]] = [:]
    for leaf in leaves { builder.append(leaf) { tiles[$0] = $1 } }
    root = builder.finish { tiles[$0] = $1 }
    self.tiles = tiles
  }

  init(count: Int64) {
    self.init(leaves: (0..<count).map { Self.leaf($0) })
  }

  static func leaf(_ index: Int64) -> Digest { SHA256.digest(Array("leaf \(index)".utf8)) }

  /// A tile with one bit of it changed.
  func forged(_ tile: TileAddress) -> [UInt8] {
    var bytes = tiles[tile] ?? []
    bytes[bytes.count / 2] ^= 1
    return bytes
  }
}
