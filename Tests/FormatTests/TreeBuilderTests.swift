import Crypto
import Failure
import MerkleTree
import Testing

@Suite struct TreeBuilderTests {
  static let counts = [0, 1, 2, 255, 256, 257, 300, 511, 512, 513, 65_535, 65_536, 65_537, 70_000]

  @Test(arguments: counts)
  func `tiles and root are those of the definition`(count: Int) throws {
    let made = MadeTree(count: count)
    #expect(made.root == ReferenceTree.root(made.leaves))
    var addresses: Set<TileAddress> = []
    for level in 0..<8 {
      let span = 1 << (8 * min(level, 7))
      let nodes = (0..<count / span).map {
        ReferenceTree.node(level: 8 * level, index: $0, made.leaves)
      }
      for first in stride(from: 0, to: nodes.count, by: 256) {
        let slots = nodes[first..<min(nodes.count, first + 256)]
        let address = TileAddress(level: level, index: Int64(first / 256), width: slots.count)
        #expect(made.tiles[address] == slots.flatMap(\.bytes))
        #expect(made.shape.tile(level: level, index: address.index) == address)
        addresses.insert(address)
      }
      let tileCount = made.shape.tileCount(level: level)
      #expect(tileCount == Int64((nodes.count + 255) / 256))
      #expect(made.shape.tile(level: level, index: tileCount) == nil)
    }
    #expect(Set(made.tiles.keys) == addresses)
    #expect(Set(made.shape.edge) == addresses.filter { !$0.isFull })
  }

  @Test func `the root can be asked for after every leaf`() {
    let leaves = MadeTree(count: 600).leaves
    var builder = TreeBuilder()
    #expect(builder.root() == .empty)
    for (index, leaf) in leaves.enumerated() {
      builder.append(leaf) { _, _ in }
      guard index % 17 == 0 || index % 256 > 253 || index % 256 < 3 else { continue }
      #expect(builder.root() == ReferenceTree.root(leaves.prefix(index + 1)))
    }
    #expect(builder.count == 600)
  }

  @Test func `70,000 leaves have the tiles that the specification counts`() {
    let paths = Set(MadeTree.largest.tiles.keys.map(\.path))
    #expect(paths.count == 273 + 1 + 1 + 1 + 1)
    #expect(
      paths.isSuperset(of: [
        "tile/0/000", "tile/0/272", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17",
        "tile/2/000.p/1",
      ]))
    #expect(Set(MadeTree(count: 1).tiles.keys.map(\.path)) == ["tile/0/000.p/1"])
    #expect(Set(MadeTree(count: 256).tiles.keys.map(\.path)) == ["tile/0/000", "tile/1/000.p/1"])
  }

  @Test(arguments: [
    (1, 2), (255, 256), (256, 257), (257, 70_000), (65_535, 65_537), (65_536, 70_000),
  ])
  func `a builder made of an authenticated edge continues the tree`(
    count: Int, grown: Int
  ) throws {
    let (before, after) = (MadeTree(count: count), MadeTree(count: grown))
    var tree = try AuthenticatedTree(count: Int64(count), root: before.root)
    try tree.authenticate(edge: before.shape.edge.map(before.suspect))
    var builder = tree.builder()
    #expect(builder.root() == before.root)
    var tiles = before.tiles.filter { $0.key.isFull }
    for leaf in after.leaves.dropFirst(count) { builder.append(leaf) { tiles[$0] = $1 } }
    #expect(builder.finish { tiles[$0] = $1 } == after.root)
    #expect(tiles == after.tiles)
  }

  /// The leaves of the original test of RFC 6962 implementations, with their published roots.
  @Test func `the reference leaves of RFC 6962 have their roots`() {
    let entries = [
      "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
      "606162636465666768696a6b6c6d6e6f",
    ]
    var hasher = TreeHasher()
    var builder = TreeBuilder()
    var roots: [String] = []
    for entry in entries {
      builder.append(hasher.leaf(Hex.decode(entry) ?? [])) { _, _ in }
      roots.append(builder.root().description)
    }
    #expect(roots[2] == "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77")
    #expect(roots[4] == "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4")
    #expect(roots[7] == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328")
  }
}
