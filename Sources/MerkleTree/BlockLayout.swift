/// How a resource of `size` bytes is cut: block i is bytes [i·blockSize, min((i+1)·blockSize, size)).
public struct BlockLayout: Sendable, Hashable {
  public let size: Int64
  public let blockSize: Int64

  /// The largest block: 64 MiB.
  public static let maximumBlockSize: Int64 = 67_108_864
  /// The largest number of blocks: 2^27.
  public static let maximumCount: Int64 = 1 << 27

  /// Nil unless `size >= 0`, `1 <= blockSize <= 64 MiB` and the block count is at most 2^27.
  public init?(size: Int64, blockSize: Int64) {
    guard size >= 0, (1...Self.maximumBlockSize).contains(blockSize) else { return nil }
    self.size = size
    self.blockSize = blockSize
    guard count <= Self.maximumCount else { return nil }
  }

  /// The smallest power of two from 1 MiB that gives at most 65,536 blocks; 64 MiB where none does.
  public static func defaultBlockSize(size: Int64) -> Int64 {
    var blockSize: Int64 = 1 << 20
    while (size - 1) / blockSize >= 65_536, blockSize < maximumBlockSize {
      blockSize *= 2
    }
    return blockSize
  }

  public var count: Int64 { size / blockSize + (size % blockSize == 0 ? 0 : 1) }

  /// The offset of block `index` in bytes.
  public func offset(of index: Int64) -> Int64 { index * blockSize }

  /// The exact length of block `index` in bytes. Requires `0 <= index < count`.
  public func length(of index: Int64) -> Int {
    precondition(index >= 0 && index < count, "MerkleTree: block index out of range")
    return Int(min(blockSize, size - offset(of: index)))
  }

  /// The bytes of the blocks in `range`. Requires a range within `0..<count`.
  public func bytes(of range: Range<Int64>) -> Range<Int64> {
    offset(of: range.lowerBound)..<min(size, offset(of: range.upperBound))
  }
}
