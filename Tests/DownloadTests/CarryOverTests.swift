import Crypto
import Failure
import MerkleTree
import Storage
import System
import TestSupport
import Testing

@testable import Download

/// Decisions about what does not have to be fetched.
struct CarryOverTests {
  /// A resource of one-byte blocks: block i is byte i of `content`.
  private final class Small {
    let content: [UInt8]
    let layout: BlockLayout
    var tree: AuthenticatedTree

    init(_ content: [UInt8]) throws {
      let layout = try #require(BlockLayout(size: Int64(content.count), blockSize: 1))
      var builder = TreeBuilder()
      var hasher = TreeHasher()
      var tiles: [TileAddress: [UInt8]] = [:]
      for byte in content {
        builder.append(hasher.leaf([byte])) { tiles[$0] = $1 }
      }
      let root = builder.finish { tiles[$0] = $1 }
      var tree = try AuthenticatedTree(count: layout.count, root: root)
      try tree.gather(0..<layout.count) { tile throws(FetchFailure) in
        try SuspectTile(tile, tiles[tile] ?? [])
      }
      (self.content, self.layout) = (content, layout)
      self.tree = tree
    }

    func leaf(_ byte: UInt8) -> Digest {
      var hasher = TreeHasher()
      return hasher.leaf([byte])
    }
  }

  private func file(_ size: Int64) throws -> ReuseFile {
    let fileSystem = MemoryFileSystem()
    let root = try fileSystem.openDirectory("/")
    let file = try root.openFile("f", .create(permissions: 0o600))
    try file.truncate(to: size)
    return ReuseFile(file, size: size)
  }

  @Test func `what a local file covers at the same place waits for it, whole blocks only`() throws {
    let layout = try #require(BlockLayout(size: 95, blockSize: 10))
    func reserved(_ sizes: Int64...) throws -> [Range<Int64>] {
      CarryOver(layout: layout, files: try sizes.map { try file($0) }).reserved.runs
    }
    #expect(try reserved() == [])
    #expect(try reserved(9) == [])
    #expect(try reserved(10) == [0..<1])
    #expect(try reserved(94) == [0..<9])
    #expect(try reserved(95) == [0..<10])
    #expect(try reserved(1_000) == [0..<10])
    #expect(try reserved(20, 55) == [0..<5])
  }

  @Test func `local files are looked at in order, and only once all leaves are known`() throws {
    let small = try Small(Array(0..<10))
    let (first, second) = (try file(4), try file(12))
    var carryOver = CarryOver(layout: small.layout, files: [first, second])
    let early = carryOver.nextLook(limit: 3)
    #expect(early?.blocks == nil)
    let proven = small.tree.provenLeaves(0..<10)
    let leaves = try #require(proven)
    carryOver.learn(0..<10, leaves)
    var looks: [(Bool, Range<Int64>)] = []
    while let (file, blocks) = carryOver.nextLook(limit: 3) {
      looks.append((file === first, blocks))
    }
    #expect(looks.map(\.0) == [true, true, false, false, false, false, false])
    // Behind the end of the resource, runs are their own: they stand in no leaf of the same place.
    #expect(looks.map(\.1) == [0..<3, 3..<4, 0..<3, 3..<6, 6..<9, 9..<10, 10..<12])
    #expect(carryOver.isExhausted)
  }

  @Test func `what no file can have is given back, late enough for what was cut out before it`()
    throws
  {
    let layout = try #require(BlockLayout(size: 400 << 20, blockSize: 1 << 20))
    var carryOver = CarryOver(layout: layout, files: [try file(400 << 20)])
    var released: [Range<Int64>] = []
    for start in stride(from: Int64(0), to: 400, by: 4) {
      let now = carryOver.looked(at: start..<start + 4)
      for run in now { #expect(run.upperBound + 64 <= start) }
      released += now
    }
    released += carryOver.releaseAll()
    var all = BlockSet(universe: 400)
    for run in released {
      #expect(all.count(in: run) == 0)
      all.insert(run)
    }
    #expect(all.count == 400)
    #expect(carryOver.reserved.isEmpty)
  }

  @Test func `a block that comes from elsewhere is not given back`() throws {
    let layout = try #require(BlockLayout(size: 100, blockSize: 10))
    var carryOver = CarryOver(layout: layout, files: [try file(100)])
    let taken = [carryOver.take(4), carryOver.take(4)]
    #expect(taken == [true, false])
    let released = carryOver.releaseAll()
    #expect(released == [0..<4, 5..<10])
  }

  @Test func `equal blocks wait for the first of them, and each is named once`() throws {
    let small = try Small([7, 1, 7, 2, 7, 1, 9])
    var carryOver = CarryOver(layout: small.layout, files: [])
    let early = carryOver.pairTwins { _ in true }
    #expect(early == [])
    let proven = small.tree.provenLeaves(0..<7)
    carryOver.learn(0..<7, try #require(proven))
    // Block 4 is already being worked on: it waits for nobody.
    let waiting = carryOver.pairTwins { $0 != 4 }
    #expect(waiting.sorted() == [2, 5])
    let first = [carryOver.takeFollowers(of: 0), carryOver.takeFollowers(of: 0)]
    #expect(first == [[2], []])
    let second = carryOver.takeFollowers { $0 == 1 }
    #expect(second.map(\.leader) == [1])
    let third = carryOver.takeFollowers(of: 1)
    #expect(third == [])
  }

  @Test func `of equal blocks that a file may have, the one is named that the others wait for`()
    throws
  {
    let small = try Small([3, 7, 1, 7, 7])
    var carryOver = CarryOver(layout: small.layout, files: [try file(5)])
    #expect(carryOver.place(of: small.leaf(7)) == nil)
    let proven = small.tree.provenLeaves(0..<5)
    carryOver.learn(0..<5, try #require(proven))
    #expect(carryOver.pairTwins { _ in true }.sorted() == [3, 4])
    #expect(carryOver.place(of: small.leaf(7)) == 1)
    #expect(carryOver.place(of: small.leaf(9)) == nil)
    #expect(carryOver.takeFollowers(of: 1) == [3, 4])
  }

  @Test func `the index names the first place of a leaf hash, whatever the order it learns in`()
    throws
  {
    var generator = SeededGenerator(seed: 42)
    let content = (0..<2_000).map { _ in UInt8.random(in: 0..<50, using: &generator) }
    let small = try Small(content)
    var index = LeafIndex(count: small.layout.count)
    var tiles = stride(from: Int64(0), to: 2_000, by: 256).map { $0..<min(2_000, $0 + 256) }
    tiles.shuffle(using: &generator)
    for tile in tiles {
      #expect(!index.isComplete)
      let proven = small.tree.provenLeaves(tile)
      let leaves = try #require(proven)
      index.learn(tile, leaves)
      index.learn(tile, leaves)
    }
    #expect(index.isComplete)
    for byte in UInt8(0)..<52 {
      let leaf = small.leaf(byte)
      #expect(index.block(of: leaf) == content.firstIndex(of: byte).map(Int64.init))
    }
    let groups = Set(index.twins.map { $0 })
    #expect(groups.count == Set(content).filter { byte in content.count { $0 == byte } > 1 }.count)
  }
}
