import Failure
import MerkleTree
import TestSupport
import Testing

@testable import Download

/// The right edge, whose tiles prove each other only together, and sources that differ about it.
extension TileLoaderTests {
  /// How a source answers for one tile of the edge.
  private enum Conduct: CaseIterable {
    case right, gone, forged, short, cut

    func answer(
      _ tile: TileAddress, _ tree: MadeTree, _ loader: inout TileLoader
    ) -> [(TileAddress, FetchFailure)] {
      switch self {
      case .right: loader.received(tile, tree.tiles[tile] ?? [])
      case .gone: loader.failed(tile, FetchFailure(.httpStatus, "404", httpStatus: 404))
      case .forged: loader.received(tile, tree.forged(tile))
      case .short: loader.received(tile, [])
      case .cut: loader.failed(tile, FetchFailure(.truncated, "cut"))
      }
    }

    /// All ways to answer for so many tiles.
    static func all(_ count: Int) -> [[Conduct]] {
      count == 0 ? [[]] : all(count - 1).flatMap { rest in allCases.map { rest + [$0] } }
    }
  }

  /// Fetches the edge from such sources, each with one way for each tile of it; answers come in any
  /// order. The wait of a source is how long it is left alone at first, in seconds.
  private func fetchEdge(
    _ tree: MadeTree, _ count: Int64, _ sources: [(conducts: [Conduct], wait: Double)],
    _ random: inout SeededGenerator
  ) throws -> Scheduler {
    let edge = TreeShape(count: count).edge
    var loader = try loader(tree, count, Disk())
    let seeds = sources.indices.map { index in
      var seed = SourceSeed(name: "https://\(index).example/")
      seed.wait = sources[index].wait
      return seed
    }
    // It decides about tiles alone here: one block will do.
    var desk = try SchedulerDesk(blocks: 1, giveUpAfter: 1e9, sources: seeds)
    loader.want(count - 1..<count)
    var open: [(tile: TileAddress, source: SourceID)] = []
    for _ in 0..<1_000 where !loader.isIdle {
      desk.scheduler.awaitsTiles = true
      _ = desk.look()
      guard desk.scheduler.verdict == .running else { return desk.scheduler }
      for (tile, source) in loader.nextRequests(source: {
        desk.scheduler.source(for: $0, now: desk.now)
      }) {
        desk.scheduler.requested(tile, from: source)
        open.append((tile, source))
      }
      open.shuffle(using: &random)
      guard let (tile, source) = open.popLast() else {
        desk.now += 1
        continue
      }
      let conduct = sources[source].conducts[try #require(edge.firstIndex(of: tile))]
      for (tile, failure) in conduct.answer(tile, tree, &loader) {
        desk.scheduler.tileFailed(tile, failure, now: desk.now)
      }
    }
    expectIdle(loader)
    try expectLeaves(&loader, count - 1..<count)
    return desk.scheduler
  }

  @Test(arguments: [300, 70_000] as [Int64])
  func `one honest source is enough for the edge, and no other's tile counts against it`(
    _ count: Int64
  ) throws {
    let tree = MadeTree(count: count)
    let tiles = TreeShape(count: count).edge.count
    let honest = [Conduct](repeating: .right, count: tiles)
    var random = SeededGenerator(seed: 11)
    let all = Conduct.all(tiles)
    for conducts in all {
      // Another that is bad in some way too, so that no two need to be alike.
      let other = try #require(all.randomElement(using: &random))
      for sources in [[conducts, honest], [honest, conducts], [conducts, other, honest]] {
        let place = sources.lastIndex(of: honest) ?? 0
        for wait in [0, 1, 100] as [Double] {
          let scheduler = try fetchEdge(
            tree, count, sources.enumerated().map { ($1, $0 == place ? wait : 0) }, &random)
          #expect(scheduler.verdict == .running, "\(sources), \(wait) s")
          #expect(scheduler.reports[place].refusals.isEmpty, "\(sources), \(wait) s")
        }
      }
    }
  }

  @Test func `another source is asked for the whole edge, once all is heard of the one before`()
    throws
  {
    let tree = MadeTree(count: 70_000)
    let edge = TreeShape(count: 70_000).edge
    var loader = try loader(tree, 70_000, Disk())
    loader.want(69_999..<70_000)
    #expect(loader.nextRequests() == edge)
    let first = loader.received(edge[0], tree.forged(edge[0]))
    #expect(first.isEmpty)
    let counts = [loader.fails(edge[1])]
    #expect(counts == [true])
    let early = loader.nextRequests(source: { _ in 1 })
    #expect(early.isEmpty)
    // One attempt is one failure.
    let again = loader.fails(edge[2])
    #expect(!again)
    let second = loader.nextRequests(source: { _ in 1 })
    #expect(second.map(\.tile) == edge)
    #expect(second.allSatisfy { $0.source == 1 })
    try serve(&loader, tree, second.map(\.tile))
    try expectLeaves(&loader, 69_999..<70_000)
  }

  @Test func `what a source gave is not asked of it again because the rest failed`() throws {
    let tree = MadeTree(count: 70_000)
    let edge = TreeShape(count: 70_000).edge
    var loader = try loader(tree, 70_000, Disk())
    loader.want(69_999..<70_000)
    #expect(loader.nextRequests() == edge)
    for tile in edge.dropLast() {
      #expect(loader.received(tile, try #require(tree.tiles[tile])).isEmpty)
    }
    _ = loader.fails(edge[2])
    let again = loader.nextRequests()
    #expect(again == [edge[2]])
    try serve(&loader, tree, again)
    try expectLeaves(&loader, 69_999..<70_000)
  }
}
