import Crypto
import Failure
import MerkleTree
import System
import TestSupport
import Testing

@testable import Download

@Suite struct TileLoaderTests {
  /// What is on the disk, and what was put there.
  final class Disk: Sendable {
    private struct State: Sendable {
      var tiles: [TileAddress: [UInt8]]
      var kept: [TileAddress] = []
    }
    private let state: Monitor<State>

    init(_ tiles: [TileAddress: [UInt8]] = [:]) { state = Monitor(State(tiles: tiles)) }

    var kept: [TileAddress] { state.look { $0.kept } }

    func read(_ tile: TileAddress) -> SuspectTile? {
      state.look { $0.tiles[tile] }.flatMap { try? SuspectTile(tile, $0) }
    }

    func keep(_ tile: TileAddress, _ bytes: [UInt8]) {
      state.look { state in
        state.tiles[tile] = bytes
        state.kept.append(tile)
      }
    }
  }

  func loader(
    _ tree: MadeTree, _ count: Int64, _ disk: Disk, capacity: Int = 64
  ) throws -> TileLoader {
    TileLoader(
      tree: try AuthenticatedTree(count: count, root: tree.root, capacity: capacity),
      stored: { disk.read($0) }, keep: { disk.keep($0, $1) })
  }

  /// Answers every request with the right tile, until nothing is asked for any more.
  func serve(
    _ loader: inout TileLoader, _ tree: MadeTree, _ open: [TileAddress] = []
  ) throws {
    var open = open
    for _ in 0..<10_000 {
      let requests = open + loader.nextRequests()
      open = []
      if requests.isEmpty { return }
      for tile in requests {
        #expect(loader.received(tile, try #require(tree.tiles[tile])).isEmpty)
      }
    }
    Issue.record("no end of requests")
  }

  /// It is not copyable, so it does not stand in an expectation.
  func expectIdle(
    _ loader: borrowing TileLoader, _ expected: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let isIdle = loader.isIdle
    #expect(isIdle == expected, sourceLocation: sourceLocation)
  }

  func expectLeaves(_ loader: inout TileLoader, _ blocks: Range<Int64>) throws {
    let proven = loader.provenLeaves(blocks)
    let leaves = try #require(proven)
    for block in blocks { #expect(leaves[block] == MadeTree.leaf(block)) }
  }

  @Test(arguments: [1, 2, 255, 256, 257, 511, 512, 70_000] as [Int64])
  func `what is wanted is asked for once, proven, and kept`(_ count: Int64) throws {
    let tree = MadeTree(count: count)
    let disk = Disk()
    var loader = try loader(tree, count, disk)
    for blocks in [0..<1, count / 2..<min(count, count / 2 + 300), count - 1..<count] {
      let isProven = loader.provenLeaves(blocks) != nil
      loader.want(blocks)
      loader.want(blocks)
      expectIdle(loader, isProven)
      try serve(&loader, tree)
      expectIdle(loader)
      try expectLeaves(&loader, blocks)
    }
    #expect(Set(disk.kept).count == disk.kept.count)
    for tile in disk.kept { #expect(disk.read(tile) != nil && tree.tiles[tile] != nil) }
  }

  @Test func `few requests run at once`() throws {
    let tree = MadeTree(count: 70_000)
    var loader = try loader(tree, 70_000, Disk())
    loader.want(0..<10_000)
    let first = loader.nextRequests()
    #expect(first.count == TileLoader.parallelRequests)
    #expect(loader.nextRequests() == [])
    let counts = loader.fails(first[7])
    #expect(counts)
    #expect(loader.nextRequests() == [first[7]])
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `tiles may come in any order, children before parents too`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let tree = MadeTree(count: 70_000)
    var loader = try loader(tree, 70_000, Disk())
    loader.want(1_000..<3_000)
    var open: [TileAddress] = []
    while !loader.isIdle {
      open += loader.nextRequests()
      open.shuffle(using: &random)
      let last = open.popLast()
      let tile = try #require(last)
      // Now and then a request comes to nothing.
      if Int.random(in: 0..<5, using: &random) == 0 {
        _ = loader.fails(tile)
      } else {
        #expect(loader.received(tile, try #require(tree.tiles[tile])).isEmpty)
      }
    }
    try expectLeaves(&loader, 1_000..<3_000)
  }

  @Test func `what was never asked for is ignored`() throws {
    let tree = MadeTree(count: 300)
    var loader = try loader(tree, 300, Disk())
    let tile = TileAddress(level: 0, index: 0)
    #expect(loader.received(tile, try #require(tree.tiles[tile])).isEmpty)
    _ = loader.fails(tile)
    expectIdle(loader)
    #expect(loader.provenLeaves(0..<10) == nil)
  }

  // MARK: Wrong tiles

  @Test func `a wrong tile is counted against the source, and asked for again`() throws {
    let tree = MadeTree(count: 70_000)
    let disk = Disk()
    var loader = try loader(tree, 70_000, disk)
    loader.want(0..<1)
    var blamed: [TileAddress] = []
    for _ in 0..<100 {
      let requests = loader.nextRequests()
      if requests.isEmpty { break }
      for tile in requests {
        let isFirst = tile.isFull && !blamed.contains(tile)
        let bytes = isFirst ? tree.forged(tile) : try #require(tree.tiles[tile])
        for (tile, failure) in loader.received(tile, bytes) {
          #expect(failure.category == .tileInvalid)
          blamed.append(tile)
        }
      }
    }
    #expect(Set(blamed) == [TileAddress(level: 0, index: 0), TileAddress(level: 1, index: 0)])
    #expect(blamed.count == 2)
    try expectLeaves(&loader, 0..<1)
    #expect(disk.kept.allSatisfy { tree.tiles[$0] != nil })
  }

  @Test func `a tile of another length is refused at once`() throws {
    let tree = MadeTree(count: 200)
    var loader = try loader(tree, 200, Disk())
    loader.want(0..<1)
    let tile = try #require(loader.nextRequests().first)
    for bytes in [[], [UInt8](repeating: 0, count: tile.byteCount + 1)] {
      let failures = loader.received(tile, bytes)
      #expect(failures.map(\.0) == [tile])
      #expect(loader.nextRequests() == [tile])
    }
    #expect(loader.received(tile, try #require(tree.tiles[tile])).isEmpty)
    try serve(&loader, tree)
    try expectLeaves(&loader, 0..<1)
  }

  @Test func `a wrong edge is blamed once, and fetched again as a whole`() throws {
    let tree = MadeTree(count: 70_000)
    let edge = TreeShape(count: 70_000).edge
    try #require(edge.count == 3)
    for wrong in edge {
      let disk = Disk()
      var loader = try loader(tree, 70_000, disk)
      loader.want(69_999..<70_000)
      let requests = loader.nextRequests()
      #expect(Set(requests) == Set(edge))
      var failures: [(TileAddress, FetchFailure)] = []
      for tile in requests {
        failures += loader.received(
          tile, tile == wrong ? tree.forged(tile) : try #require(tree.tiles[tile]))
      }
      #expect(failures.count == 1)
      #expect(disk.kept == [])
      #expect(loader.provenLeaves(69_999..<70_000) == nil)
      try serve(&loader, tree)
      try expectLeaves(&loader, 69_999..<70_000)
      #expect(Set(disk.kept) == Set(edge))
    }
  }

  // MARK: On disk

  @Test func `what is on disk is taken at once, without any request`() throws {
    let tree = MadeTree(count: 70_000)
    let disk = Disk(tree.tiles)
    var loader = try loader(tree, 70_000, disk)
    loader.want(500..<700)
    expectIdle(loader)
    #expect(loader.nextRequests() == [])
    try expectLeaves(&loader, 500..<700)
    #expect(disk.kept == [])
  }

  @Test func `a wrong tile on disk is fetched, and nobody is blamed`() throws {
    let tree = MadeTree(count: 70_000)
    let shape = TreeShape(count: 70_000)
    let wanted = Set(
      shape.edge + [TileAddress(level: 1, index: 0), TileAddress(level: 0, index: 2)])
    for wrong in wanted {
      var tiles = tree.tiles
      tiles[wrong] = tree.forged(wrong)
      let disk = Disk(tiles)
      var loader = try loader(tree, 70_000, disk)
      loader.want(600..<601)
      // Of the edge it cannot be told which tile is wrong.
      let again = wrong.isFull ? [wrong] : Set(shape.edge)
      #expect(Set(loader.nextRequests()) == again)
      for tile in again {
        #expect(loader.received(tile, try #require(tree.tiles[tile])).isEmpty)
      }
      try serve(&loader, tree)
      try expectLeaves(&loader, 600..<601)
      #expect(Set(disk.kept) == again)
    }
  }

  @Test func `a source is not blamed for an edge that came in part from disk`() throws {
    let tree = MadeTree(count: 70_000)
    let edge = TreeShape(count: 70_000).edge
    let disk = Disk([edge[0]: tree.forged(edge[0])])
    var loader = try loader(tree, 70_000, disk)
    loader.want(69_999..<70_000)
    for tile in loader.nextRequests() {
      #expect(loader.received(tile, try #require(tree.tiles[tile])).isEmpty)
    }
    // This time all of it comes from the source.
    let again = loader.nextRequests()
    #expect(Set(again) == Set(edge))
    var failures = 0
    for tile in again { failures += loader.received(tile, tree.forged(tile)).count }
    #expect(failures == 1)
  }

  @Test func `what was forgotten is read from disk again`() throws {
    let tree = MadeTree(count: 70_000)
    let disk = Disk()
    var loader = try loader(tree, 70_000, disk, capacity: 2)
    for index in 0..<20 as Range<Int64> {
      let blocks = index * 256..<index * 256 + 1
      loader.want(blocks)
      try serve(&loader, tree)
      try expectLeaves(&loader, blocks)
    }
    #expect(loader.provenLeaves(0..<1) == nil)
    let kept = disk.kept
    loader.want(0..<1)
    #expect(loader.nextRequests() == [])
    try expectLeaves(&loader, 0..<1)
    #expect(disk.kept == kept)
  }

  @Test func `the leaves that were proven are told once`() throws {
    let tree = MadeTree(count: 600)
    var loader = try loader(tree, 600, Disk())
    loader.want(300..<301)
    #expect(loader.takeLearned() == [])
    try serve(&loader, tree)
    #expect(
      loader.takeLearned().sorted { $0.lowerBound < $1.lowerBound } == [256..<512, 512..<600])
    #expect(loader.takeLearned() == [])
  }
}

extension TileLoader {
  /// Where there is one source.
  mutating func nextRequests() -> [TileAddress] {
    nextRequests(source: { _ in 0 }).map(\.tile)
  }

  /// - Returns: whether it counts against the source.
  mutating func fails(_ tile: TileAddress) -> Bool {
    !failed(tile, FetchFailure(.truncated, "cut")).isEmpty
  }
}
