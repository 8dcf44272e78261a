import Crypto
import Failure

/// The bytes of one block whose proof holds. Only ``BlockVerifier`` makes one, and the only call that
/// writes block bytes takes one.
///
/// It lends the bytes it was made from: they must not change while it exists, which the borrowing
/// closure of ``BlockVerifier/verify(_:index:leaves:_:)`` makes easy to keep.
public struct VerifiedBlock: ~Copyable {
  public let index: Int64
  public let bytes: UnsafeRawBufferPointer

  init(index: Int64, bytes: UnsafeRawBufferPointer) {
    self.index = index
    self.bytes = bytes
  }
}

/// Checks blocks against proven leaves. Holds a hash context; one per thread.
public struct BlockVerifier: ~Copyable {
  public let layout: BlockLayout
  private var hasher = TreeHasher()

  public init(layout: BlockLayout) { self.layout = layout }

  /// Lends the block to `body` if it has the exact length of block `index` and hashes to its proven
  /// leaf, which is its audit path walked once per tile instead of once per block.
  ///
  /// - Throws: `block-mismatch`, and whatever `body` throws.
  public mutating func verify(
    _ bytes: UnsafeRawBufferPointer, index: Int64, leaves: ProvenLeaves,
    _ body: (borrowing VerifiedBlock) throws(FetchFailure) -> Void
  ) throws(FetchFailure) {
    guard let wanted = leaves[index] else {
      preconditionFailure("MerkleTree: no proven leaf for block \(index)")
    }
    let length = layout.length(of: index)
    guard bytes.count == length else {
      throw FetchFailure(
        .blockMismatch, "block \(index) has \(bytes.count) bytes instead of \(length)",
        block: index)
    }
    let found = hasher.leaf(bytes)
    guard found == wanted else {
      throw FetchFailure(
        .blockMismatch, "block \(index) hashes to \(found) instead of \(wanted)", block: index)
    }
    try body(VerifiedBlock(index: index, bytes: bytes))
  }
}
