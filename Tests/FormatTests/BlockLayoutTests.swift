import MerkleTree
import Testing

@Suite struct BlockLayoutTests {
  @Test(arguments: [
    (0, 1_024, 0), (1, 1_024, 1), (1_023, 1_024, 1), (1_024, 1_024, 1), (1_025, 1_024, 2),
    (2_048, 1_024, 2), (2_049, 1_024, 3), (9_007_199_254_740_992, 67_108_864, 134_217_728),
  ])
  func `a resource is cut into whole blocks and a rest`(
    size: Int64, blockSize: Int64, count: Int64
  ) throws {
    let layout = try #require(BlockLayout(size: size, blockSize: blockSize))
    #expect(layout.count == count)
    guard count > 0 else { return }
    #expect(layout.bytes(of: 0..<count) == 0..<size)
    let last = Int64(layout.length(of: count - 1))
    #expect(last > 0 && last <= blockSize)
    #expect(layout.offset(of: count - 1) + last == size)
  }

  @Test(arguments: [
    (-1, 1_024), (0, 0), (5, -1), (5, 67_108_865), (9_007_199_254_740_993, 67_108_864),
    (9_223_372_036_854_775_807, 1), (134_217_729, 1),
  ])
  func `a size or block size out of bounds is refused`(size: Int64, blockSize: Int64) {
    #expect(BlockLayout(size: size, blockSize: blockSize) == nil)
  }

  @Test(arguments: [
    (0, 1_048_576), (1_048_576, 1_048_576), (68_719_476_736, 1_048_576),
    (68_719_476_737, 2_097_152), (137_438_953_472, 2_097_152), (137_438_953_473, 4_194_304),
    (9_007_199_254_740_992, 67_108_864),
  ])
  func `the default block is the smallest power of two that gives at most 65,536 blocks`(
    size: Int64, blockSize: Int64
  ) {
    #expect(BlockLayout.defaultBlockSize(size: size) == blockSize)
  }
}
