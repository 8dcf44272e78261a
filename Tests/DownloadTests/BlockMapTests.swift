import Testing

@testable import Download

@Suite struct BlockMapTests {
  @Test(
    "every block belongs to the cell whose range holds it",
    arguments: [1, 2, 7, 4_095, 4_096, 4_097, 10_000, 65_536, 1 << 27] as [Int64])
  func cells(_ blocks: Int64) {
    let count = BlockMap.count(of: blocks)
    #expect(count <= BlockMap.maximumCount && count <= blocks)
    var next: Int64 = 0
    for index in 0..<count {
      let range = BlockMap.range(index, of: count, blocks: blocks)
      #expect(range.lowerBound == next && !range.isEmpty)
      next = range.upperBound
      for block in [range.lowerBound, range.upperBound - 1] {
        #expect(BlockMap.index(of: block, of: count, blocks: blocks) == index)
      }
    }
    #expect(next == blocks)
  }

  @Test func `blocks from this disk are counted in the cells that they belong to`() {
    var carried = CarriedBlocks(blocks: 10_000)
    carried.add(0..<0)
    carried.add(3..<7_001)
    carried.add(9_999..<10_000)
    #expect(carried.counts.reduce(0, +) == 6_999)
    for (index, count) in carried.counts.enumerated() {
      let range = BlockMap.range(index, of: carried.counts.count, blocks: 10_000)
      let expected = range.filter { (3..<7_001).contains($0) || $0 == 9_999 }.count
      #expect(count == Int64(expected))
    }
  }

  @Test func `in fewer cells the worst one shows, and nothing gets lost`() {
    let map = BlockMap([.verified, .verified, .carriedOver, .missing, .inFlight, .refused])
    #expect(map.reduced(to: 3).cells == [.verified, .missing, .refused])
    #expect(map.reduced(to: 6) == map && map.reduced(to: 100) == map)
    #expect(map.reduced(to: 1).cells == [.refused])
    #expect(BlockMap([]).reduced(to: 5).cells.isEmpty)
  }

  @Test func `of what lies on disk only whole cells are there`() {
    var present = BlockSet(universe: 8_192)
    present.insert(0..<101)
    let cells = BlockMap(present).cells
    #expect(cells.prefix(50).allSatisfy { $0 == .carriedOver })
    #expect(cells.dropFirst(50).allSatisfy { $0 == .missing })
  }
}
