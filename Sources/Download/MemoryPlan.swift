import MerkleTree

/// How the memory of a run is divided.
struct MemoryPlan: Equatable {
  var bufferSize: Int
  var buffers: Int
  /// The most connections: each holds memory that is not ours to count.
  var connections: Int
  var leafTiles: Int
  /// The most blocks of one span.
  var spanBlocks: Int64
  /// The most blocks of a span for which all buffers are taken before it begins.
  var reservedBlocks: Int64

  /// Small blocks travel together.
  static let preferredBufferSize: Int64 = 256 << 10
  static let preferredPoolSize: Int64 = 32 << 20
  /// Bytes.
  static let memoryPerConnection: Int64 = 3_900_000
  /// One for each of sixteen connections, and some to hash.
  static let fewestUseful: Int64 = 20

  init(layout: BlockLayout, memory: Int64, connections allowed: Int = 16) {
    let block = layout.blockSize
    // Block sets of one bit a block, 32 bytes for every full tile, the index of leaves.
    let index = layout.count <= LeafIndex.maximumCount ? layout.count * 16 : 0
    let fixed = layout.count / 8 * 5 + layout.count / 256 * 32 + index
    let budget = max(memory, 2 * block + 8 << 20) - fixed
    leafTiles = Int(max(16, min(budget / 8, 8 << 20) / 16_384))
    // The proofs of what travels together, and of all that travels at the same time, have to fit.
    let affordable = max(1, min(allowed, max(2, Int(budget / Self.memoryPerConnection))))
    spanBlocks = Int64(max(1, leafTiles / (2 * affordable) - 1) * Tile.width)
    let blocksPerBuffer = min(max(1, Self.preferredBufferSize / block), spanBlocks)
    bufferSize = Int(block * min(blocksPerBuffer, max(1, layout.count)))
    // Three eighths are left for what holds bytes on their way and is not ours to count.
    let forBuffers = max(1 << 20, (budget - Int64(leafTiles) * 16_384) / 8 * 5)
    // More than this only waits in a queue, and leaves the caches meanwhile.
    let useful = max(Self.fewestUseful, Self.preferredPoolSize / Int64(bufferSize))
    buffers = Int(max(2, min(forBuffers / Int64(bufferSize), useful)))
    connections = min(affordable, buffers)
    // While those that have come are hashed, the next ones have to find room.
    let reserved = max(1, buffers / (2 * affordable))
    reservedBlocks = Int64(reserved) * (Int64(bufferSize) / block)
  }
}
