import MerkleTree
import Testing

@testable import Download

@Suite struct MemoryPlanTests {
  private static let blockSizes: [Int64] = [
    1, 2, 3, 16, 255, 256, 1_000, 4_096, 65_536, 200_000, 262_143, 262_144, 262_145, 1 << 20,
    3 << 20, 8 << 20, 64 << 20,
  ]
  private static let memories: [Int64] = [1, 1 << 20, 8 << 20, 16 << 20, 64 << 20, 1 << 30]
  private static let counts: [Int64] = [0, 1, 2, 3, 255, 256, 257, 65_536, 1 << 20, 1 << 27]

  @Test(arguments: blockSizes, memories)
  func `buffers and tiles stay within what was asked for, or what two blocks need`(
    _ blockSize: Int64, _ memory: Int64
  ) throws {
    let budget = max(memory, 2 * blockSize + 8 << 20)
    for count in Self.counts {
      let layout = try #require(BlockLayout(size: count * blockSize, blockSize: blockSize))
      let plan = MemoryPlan(layout: layout, memory: memory)
      let buffers = Int64(plan.buffers) * Int64(plan.bufferSize)
      // A tile is 8 KiB of hashes and what keeps them together.
      let tiles = Int64(plan.leafTiles) * (8_192 + 512)
      #expect(buffers + tiles <= budget, "\(count) blocks: \(plan)")
      // Above the lowest level all tiles are kept: 32 bytes for each 256 blocks.
      if count <= 1 << 20 {
        #expect(buffers + tiles + count / 256 * 33 <= budget, "\(count) blocks: \(plan)")
      }
    }
  }

  @Test(arguments: blockSizes, memories)
  func `there is always enough to go on`(_ blockSize: Int64, _ memory: Int64) throws {
    for count in Self.counts {
      let layout = try #require(BlockLayout(size: count * blockSize, blockSize: blockSize))
      let plan = MemoryPlan(layout: layout, memory: memory)
      #expect(plan.buffers >= 2)
      #expect(plan.bufferSize > 0)
      #expect(Int64(plan.bufferSize) % blockSize == 0)
      // What one buffer holds must be provable at once, or nothing ever is.
      let blocks = min(Int64(plan.bufferSize) / blockSize, count)
      let tiles = blocks == 0 ? 0 : (blocks - 1 + 255) / 256 + 1
      #expect(tiles <= Int64(plan.leafTiles), "\(count) blocks: \(plan)")
    }
  }

  @Test func `more memory is never fewer bytes in flight`() throws {
    for blockSize in Self.blockSizes {
      let layout = try #require(BlockLayout(size: 65_536 * blockSize, blockSize: blockSize))
      var last = 0
      for memory in Self.memories {
        let plan = MemoryPlan(layout: layout, memory: memory)
        let bytes = plan.buffers * plan.bufferSize
        // Whole buffers: what does not fill one more is left out.
        #expect(bytes + plan.bufferSize > last, "blocks of \(blockSize), \(memory)")
        last = bytes
      }
    }
  }
}
