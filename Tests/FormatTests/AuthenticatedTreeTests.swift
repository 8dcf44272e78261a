import Crypto
import Failure
import MerkleTree
import Testing

@Suite struct AuthenticatedTreeTests {
  /// Every index of a small tree; of a large one the ends, the tile borders and some between.
  private static func indexes(_ count: Int) -> [Int] {
    guard count > 600 else { return Array(0..<count) }
    let borders = [0, 1, 254, 255, 256, 257, 511, 512, 65_279, 65_280, 65_534, 65_535, 65_536]
    return borders.filter { $0 < count } + Array(stride(from: 997, to: count, by: 1_999))
      + (count - 3..<count)
  }

  @Test(arguments: TreeBuilderTests.counts.dropFirst())
  func `tiles and the single-path verifier agree about every leaf`(count: Int) throws {
    let made = MadeTree(count: count)
    var tree = try AuthenticatedTree(count: made.shape.count, root: made.root)
    let all = tree.missingTiles(for: 0..<made.shape.count)
    #expect(Set(all) == Set(made.tiles.keys) && all.count == made.tiles.count)
    try made.authenticate(0..<made.shape.count, in: &tree)

    let proven = tree.provenLeaves(0..<made.shape.count)
    #expect((0..<count).allSatisfy { proven?[Int64($0)] == made.leaves[$0] })
    #expect(proven?[-1] == nil && proven?[made.shape.count] == nil)
    for index in Self.indexes(count) {
      var nodes: [Digest] = []
      let path = InclusionProof.make(index: Int64(index), shape: made.shape) { level, index in
        let node = tree.node(level: level, index: index)
        nodes.append(node)
        return node
      }
      #expect(path == nodes)
      if count < 600 { #expect(path == ReferenceTree.path(index, made.leaves)) }
      #expect(throws: Never.self) {
        try InclusionProof.verify(
          leaf: made.leaves[index].bytes, index: Int64(index), count: made.shape.count,
          siblings: path.map(\.bytes), root: made.root.bytes)
      }
    }
  }

  @Test(arguments: [1, 2, 257, 513, 65_537, 70_000])
  func `nodes are those of the definition on every level`(count: Int) throws {
    let made = MadeTree(count: count)
    var tree = try made.authenticated()
    for level in 0...made.shape.height {
      let last = (count - 1) >> level
      let indexes: Set = level > 10 ? [0, last] : [0, last, max(0, last - 1), last / 2, last / 3]
      for index in indexes {
        let node = tree.node(level: level, index: Int64(index))
        #expect(node == ReferenceTree.node(level: level, index: index, made.leaves))
      }
    }
    #expect(tree.node(level: made.shape.height, index: 0) == made.root)
  }

  @Test(arguments: [1, 2, 255, 256, 257, 300, 65_535, 65_536, 65_537, 69_999, 70_000])
  func `a large tree proves that it extends a smaller one`(count: Int) throws {
    let made = MadeTree.largest
    var tree = try made.authenticated()
    let proof = ConsistencyProof.make(size1: Int64(count), shape: made.shape) {
      tree.node(level: $0, index: $1)
    }
    try ConsistencyProof.verify(
      size1: Int64(count), root1: MadeTree(count: count).root.bytes, size2: 70_000,
      root2: made.root.bytes, proof: proof.map(\.bytes))
  }

  @Test func `only the tiles that a range needs are asked for, parents first`() throws {
    let made = MadeTree.largest
    var tree = try AuthenticatedTree(count: 70_000, root: made.root)
    let edge = ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"]
    #expect(
      tree.missingTiles(for: 255..<257).map(\.path)
        == edge + ["tile/1/000", "tile/0/000", "tile/0/001"])
    #expect(tree.missingTiles(for: 69_999..<70_000).map(\.path) == edge)
    #expect(tree.missingTiles(for: 5..<5) == [])
    let (first, upper) = (TileAddress(level: 0, index: 0), TileAddress(level: 1, index: 0))
    let atFirst = (tree.isReady(for: upper), tree.isReady(for: first))
    #expect(atFirst == (false, false))
    try tree.authenticate(edge: made.shape.edge.map(made.suspect))
    let withEdge = (tree.isReady(for: upper), tree.isReady(for: first))
    #expect(withEdge == (true, false))
    #expect(tree.missingTiles(for: 69_888..<70_000) == [])
    #expect(tree.missingTiles(for: 65_536..<65_537).map(\.path) == ["tile/0/256"])
    try made.authenticate(255..<257, in: &tree)
    #expect(tree.missingTiles(for: 0..<512) == [])
    #expect(tree.missingTiles(for: 511..<513).map(\.path) == ["tile/0/002"])
    let atLast = tree.isReady(for: first)
    #expect(atLast)
    let (there, half) = (tree.provenLeaves(0..<512), tree.provenLeaves(511..<513))
    #expect(there != nil && half == nil)
  }

  // covers: F38
  @Test func `each forged tile of 70,000 leaves is refused, and stays missing`() throws {
    let made = MadeTree.largest
    let whole = 0..<made.shape.count
    var forged = 0
    for (position, address) in made.shape.edge.enumerated() {
      for bit in stride(from: position, to: address.byteCount * 8, by: 1_021) {
        var tree = try AuthenticatedTree(count: 70_000, root: made.root)
        let edge = try made.shape.edge.map {
          $0 == address ? try made.forged(address, bit: bit) : try made.suspect($0)
        }
        #expect(
          category { () throws(FetchFailure) in try tree.authenticate(edge: edge) } == .tileInvalid)
        #expect(tree.missingTiles(for: whole).count == made.tiles.count)
      }
      forged += 1
    }
    var tree = try AuthenticatedTree(count: 70_000, root: made.root)
    try tree.authenticate(edge: made.shape.edge.map(made.suspect))
    for (position, address) in tree.missingTiles(for: whole).enumerated() {
      let suspect = try made.forged(address, bit: position * 977)
      #expect(
        category { () throws(FetchFailure) in try tree.authenticate(suspect) } == .tileInvalid)
      #expect(tree.missingTiles(for: whole).first == address)
      try tree.authenticate(made.suspect(address))
      forged += 1
    }
    #expect(tree.missingTiles(for: whole) == [])
    #expect(forged == 277)
  }

  @Test func `a genuine tile in another's place is refused`() throws {
    let made = MadeTree.largest
    var tree = try made.authenticated()
    for index in 0..<Int64(272) {
      let address = TileAddress(level: 0, index: index)
      let neighbour = TileAddress(level: 0, index: index + 1)
      let suspect = try SuspectTile(address, made.tiles[neighbour] ?? [])
      #expect(
        category { () throws(FetchFailure) in try tree.authenticate(suspect) } == .tileInvalid)
    }
  }

  @Test(arguments: [1, 255, 257, 65_537, 69_999])
  func `the edge of a tree of another size is refused`(count: Int) throws {
    let other = MadeTree(count: count)
    var tree = try AuthenticatedTree(count: Int64(count), root: MadeTree(count: 300).root)
    let edge = try other.shape.edge.map(other.suspect)
    #expect(
      category { () throws(FetchFailure) in try tree.authenticate(edge: edge) } == .tileInvalid)
  }

  @Test(arguments: [1, 2, 3])
  func `a tree that forgets tiles gives the right leaves, and still refuses forged ones`(
    capacity: Int
  ) throws {
    let made = MadeTree.largest
    var tree = try AuthenticatedTree(count: 70_000, root: made.root, capacity: capacity)
    try made.authenticate(0..<1, in: &tree)
    var state: UInt64 = 42
    for _ in 0..<60 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // At most `capacity` tiles: a range over two needs two.
      let length = Int64(capacity == 1 ? 1 : 2 + state >> 40 % 200)
      let first = Int64(state >> 33) % (made.shape.count - length)
      let range = first..<first + length
      for address in tree.missingTiles(for: range) {
        let suspect = try made.forged(address, bit: Int(state >> 44))
        #expect(
          category { () throws(FetchFailure) in try tree.authenticate(suspect) } == .tileInvalid)
      }
      try made.authenticate(range, in: &tree)
      let proven = tree.provenLeaves(range)
      #expect(range.allSatisfy { proven?[$0] == made.leaves[Int($0)] })
    }
    #expect(tree.missingTiles(for: 69_888..<70_000) == [], "the edge is kept")
    var builder = tree.builder()
    #expect(builder.root() == made.root)
    let missing = tree.missingTiles(for: 0..<made.shape.count)
    #expect(missing.count == 273 - capacity)
  }

  @Test func `the tile that was used longest ago is forgotten first`() throws {
    let made = MadeTree.largest
    var tree = try AuthenticatedTree(count: 70_000, root: made.root, capacity: 2)
    try made.authenticate(0..<512, in: &tree)
    _ = tree.provenLeaves(0..<1)
    try made.authenticate(512..<513, in: &tree)
    #expect(tree.missingTiles(for: 0..<1) == [])
    #expect(tree.missingTiles(for: 256..<257).map(\.path) == ["tile/0/001"])
  }

  @Test func `an empty tree has one root and no tiles`() throws {
    var tree = try AuthenticatedTree(count: 0, root: .empty)
    #expect(tree.missingTiles(for: 0..<0) == [])
    try tree.authenticate(edge: [])
    let proven = tree.provenLeaves(0..<0)
    #expect(proven != nil && proven?[0] == nil)
    #expect(
      category { () throws(FetchFailure) in
        _ = try AuthenticatedTree(count: 0, root: ReferenceTree.leaf([]))
      } == .tileInvalid)
  }

  @Test func `the largest tree has an edge, and no made-up one leads to its root`() throws {
    let shape = TreeShape(count: .max)
    #expect(shape.tileLevels == 8)
    #expect(shape.edge.map(\.width) == [255, 255, 255, 255, 255, 255, 255, 127])
    #expect(shape.tile(level: 0, index: .max) == nil)
    var tree = try AuthenticatedTree(count: .max, root: ReferenceTree.leaf([]))
    let edge = try shape.edge.map {
      try SuspectTile($0, [UInt8](repeating: 7, count: $0.byteCount))
    }
    #expect(
      category { () throws(FetchFailure) in try tree.authenticate(edge: edge) } == .tileInvalid)
  }

  @Test(arguments: [0, 1, 31, 3_583, 3_585, 8_192])
  func `a tile of another length is refused`(length: Int) {
    let address = TileAddress(level: 0, index: 273, width: 112)
    #expect(
      category { () throws(FetchFailure) in
        _ = try SuspectTile(address, [UInt8](repeating: 0, count: length))
      } == .tileInvalid)
  }
}
