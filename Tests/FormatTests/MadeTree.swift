import Crypto
import Failure
import MerkleTree

/// A tree as a publisher would serve it: leaves by rule, the tiles over them and the root.
struct MadeTree {
  let leaves: ArraySlice<Digest>
  let tiles: [TileAddress: [UInt8]]
  let root: Digest

  /// Enough leaves for every tree of these tests: the numbers from 0, as eight bytes.
  private static let leaves = (0..<70_000).map { leaf in
    ReferenceTree.leaf((0..<8).map { UInt8(truncatingIfNeeded: leaf >> (56 - 8 * $0)) })
  }

  /// The tree of 70,000 leaves: tiles on three levels, and a level-1 tile that is no edge.
  static let largest = MadeTree(count: 70_000)

  init(count: Int) {
    leaves = Self.leaves.prefix(count)
    var made: [TileAddress: [UInt8]] = [:]
    var builder = TreeBuilder()
    for leaf in leaves { builder.append(leaf) { made[$0] = $1 } }
    root = builder.finish { made[$0] = $1 }
    tiles = made
  }

  var shape: TreeShape { TreeShape(count: Int64(leaves.count)) }

  func suspect(_ address: TileAddress) throws -> SuspectTile {
    try SuspectTile(address, tiles[address] ?? [])
  }

  /// The tile with one bit turned over.
  func forged(_ address: TileAddress, bit: Int) throws -> SuspectTile {
    var bytes = tiles[address] ?? []
    bytes[bit / 8 % bytes.count] ^= 1 << UInt8(bit % 8)
    return try SuspectTile(address, bytes)
  }

  /// Brings `tree` what it misses to prove the leaves in `range`.
  func authenticate(_ range: Range<Int64>, in tree: inout AuthenticatedTree) throws {
    var missing = tree.missingTiles(for: range)
    while !missing.isEmpty {
      let edge = try missing.filter { !$0.isFull }.map(suspect)
      if !edge.isEmpty { try tree.authenticate(edge: edge) }
      for address in missing where address.isFull { try tree.authenticate(suspect(address)) }
      missing = tree.missingTiles(for: range)
    }
  }

  /// A tree that has proven every leaf.
  func authenticated() throws -> AuthenticatedTree {
    var tree = try AuthenticatedTree(count: shape.count, root: root)
    try authenticate(0..<shape.count, in: &tree)
    return tree
  }
}
