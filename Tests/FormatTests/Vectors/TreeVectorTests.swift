import Crypto
import Failure
import MerkleTree
import Testing

@Suite struct TreeVectorTests {
  struct Fields: Decodable, Sendable {
    let count: Int64
    /// How the blocks come about, where they are not written out.
    let rule: String?
    let blockSize: Int64?
    let size: Int64?
    let blocks: [VectorBytes]?
    let leaves: [VectorBytes]?
    let root: VectorBytes
    let proofs: [Proof]
    let tiles: [Tile]
  }

  /// The proof of a leaf: a list of siblings where all stand in order, else with its index.
  struct Proof: Decodable, Sendable {
    let index: Int64?
    let siblings: [VectorBytes]

    private enum Key: String, CodingKey { case index, siblings }

    init(from decoder: any Decoder) throws {
      if let container = try? decoder.container(keyedBy: Key.self) {
        index = try container.decode(Int64.self, forKey: .index)
        siblings = try container.decode([VectorBytes].self, forKey: .siblings)
      } else {
        (index, siblings) = (nil, try [VectorBytes](from: decoder))
      }
    }
  }

  struct Tile: Decodable, Sendable {
    let path: String
    let sha256: VectorBytes
  }

  private func blocks(_ fields: Fields) throws -> [[UInt8]] {
    if let blocks = fields.blocks { return blocks.map(\.bytes) }
    try #require(fields.rule == "block i is the 8-byte big-endian integer i")
    return (0..<fields.count).map { index in
      (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - 8 * $0)) }
    }
  }

  @Test(arguments: try VectorFile<Fields>.all(in: "tree"))
  func `leaves, root, tiles and proofs are those of the vector`(_ file: VectorFile<Fields>) throws {
    #expect(try file.refusal() == nil)
    let fields = file.fields
    let blocks = try blocks(fields)
    let root = try fields.root.digest()
    #expect(blocks.count == fields.count)
    if let size = fields.size, let blockSize = fields.blockSize {
      let layout = try #require(BlockLayout(size: size, blockSize: blockSize))
      #expect(layout.count == fields.count)
      #expect(blocks.indices.allSatisfy { layout.length(of: Int64($0)) == blocks[$0].count })
    }

    var hasher = TreeHasher()
    var builder = TreeBuilder()
    var tiles: [TileAddress: [UInt8]] = [:]
    var leaves: [Digest] = []
    for block in blocks {
      leaves.append(hasher.leaf(block))
      builder.append(leaves[leaves.count - 1]) { tiles[$0] = $1 }
    }
    if let wanted = fields.leaves { #expect(leaves.map(\.bytes) == wanted.map(\.bytes)) }
    #expect(builder.finish { tiles[$0] = $1 } == root)

    var wanted: [TileAddress: Digest] = [:]
    for tile in fields.tiles { wanted[try TileAddress(path: tile.path)] = try tile.sha256.digest() }
    #expect(tiles.mapValues(SHA256.digest) == wanted)
    #expect(fields.tiles.count == wanted.count)

    var tree = try AuthenticatedTree(count: fields.count, root: root)
    try tree.authenticate(
      edge: tree.shape.edge.map { try SuspectTile($0, tiles[$0] ?? []) })
    for address in tree.missingTiles(for: 0..<fields.count) {
      try tree.authenticate(SuspectTile(address, tiles[address] ?? []))
    }
    #expect(fields.proofs.isEmpty == (fields.count == 0))
    for (position, proof) in fields.proofs.enumerated() {
      let index = proof.index ?? Int64(position)
      let block = blocks[Int(index)]
      try InclusionProof.verify(
        block: block, length: block.count, index: index, count: fields.count,
        siblings: proof.siblings.map(\.bytes), root: root.bytes)
      let made = InclusionProof.make(index: index, shape: tree.shape) {
        tree.node(level: $0, index: $1)
      }
      #expect(made.map(\.bytes) == proof.siblings.map(\.bytes))
    }
  }
}
