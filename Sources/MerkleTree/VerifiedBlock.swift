import Crypto
import Failure

/// The bytes of one or more adjacent blocks, each of which hashed to its proven leaf. Only
/// ``BlockVerifier`` makes one, and the only call that writes block bytes takes one.
///
/// It lends the bytes it was made from: they must not change while it exists, which the borrowing
/// closure of ``BlockVerifier/verify(_:blocks:leaves:accept:)`` makes easy to keep.
public struct VerifiedBlocks: ~Copyable {
  public let blocks: Range<Int64>
  /// The bytes; empty where `isZero` says it all.
  public let bytes: UnsafeRawBufferPointer
  /// Whether all the bytes are zero. May be false for a short last block of zeros.
  public let isZero: Bool

  init(blocks: Range<Int64>, bytes: UnsafeRawBufferPointer, isZero: Bool) {
    self.blocks = blocks
    self.bytes = bytes
    self.isZero = isZero
  }
}

/// Checks blocks against proven leaves. Holds a hash context; one per thread.
///
/// A block whose leaf hash equals its slot in an authenticated tile has a valid audit path: it is the
/// same path, walked once per tile instead of once per block.
public struct BlockVerifier: ~Copyable {
  public let layout: BlockLayout
  private var hasher = TreeHasher()
  /// The leaf hash of a full block of zeros, once it was needed.
  private var zeroLeaf: Digest?

  public init(layout: BlockLayout) { self.layout = layout }

  /// Lends every maximal run of verified blocks to `accept`, and returns a `block-mismatch` for each
  /// block that does not hash to its proven leaf.
  ///
  /// - Parameter bytes: exactly the bytes of `blocks`, which lie within `leaves`.
  /// - Throws: `block-mismatch` without having looked at anything if the length is not that of
  ///   `blocks`, and whatever `accept` throws.
  public mutating func verify(
    _ bytes: UnsafeRawBufferPointer, blocks: Range<Int64>, leaves: ProvenLeaves,
    accept: (borrowing VerifiedBlocks) throws(FetchFailure) -> Void
  ) throws(FetchFailure) -> [FetchFailure] {
    let wanted = layout.bytes(of: blocks)
    guard bytes.count == wanted.count else {
      throw FetchFailure(
        .blockMismatch,
        "blocks \(blocks.lowerBound) to \(blocks.upperBound - 1) have \(bytes.count) bytes "
          + "instead of \(wanted.count)", block: blocks.lowerBound)
    }
    func slice(_ range: Range<Int64>) -> UnsafeRawBufferPointer {
      let inside = layout.bytes(of: range)
      let start = Int(inside.lowerBound - wanted.lowerBound)
      return UnsafeRawBufferPointer(rebasing: bytes[start..<start + inside.count])
    }
    var rejected: [FetchFailure] = []
    var run = blocks.lowerBound..<blocks.lowerBound
    var runIsZero = false
    for index in blocks {
      guard let leaf = leaves[index] else {
        preconditionFailure("MerkleTree: no proven leaf for block \(index)")
      }
      let block = slice(index..<index + 1)
      let found = hasher.leaf(block)
      #if FETCHRES_MUTANTS
        let isGood = found == leaf || Mutant.skipProof.isChosen
      #else
        let isGood = found == leaf
      #endif
      let isZero = isGood && self.isZero(block, leaf: found)
      if !run.isEmpty, !isGood || isZero != runIsZero {
        try accept(VerifiedBlocks(blocks: run, bytes: slice(run), isZero: runIsZero))
        run = index..<index
      }
      if isGood {
        run = (run.isEmpty ? index : run.lowerBound)..<index + 1
        runIsZero = isZero
      } else {
        rejected.append(
          FetchFailure(
            .blockMismatch, "block \(index) hashes to \(found) instead of \(leaf)", block: index))
      }
    }
    if !run.isEmpty {
      try accept(VerifiedBlocks(blocks: run, bytes: slice(run), isZero: runIsZero))
    }
    return rejected
  }

  /// Lends the blocks as zeros, without any bytes, if each is a full one and its proven leaf is that
  /// of zeros.
  ///
  /// - Returns: whether they were lent.
  public mutating func verifyZeros(
    blocks: Range<Int64>, leaves: ProvenLeaves,
    accept: (borrowing VerifiedBlocks) throws(FetchFailure) -> Void
  ) throws(FetchFailure) -> Bool {
    guard layout.bytes(of: blocks).count == Int(layout.blockSize) * blocks.count,
      blocks.allSatisfy({ leaves[$0] == fullZeroLeaf() })
    else { return false }
    try accept(
      VerifiedBlocks(
        blocks: blocks, bytes: UnsafeRawBufferPointer(start: nil, count: 0), isZero: true))
    return true
  }

  /// The leaf hash of a block, proven or not.
  public mutating func leaf(of block: UnsafeRawBufferPointer) -> Digest { hasher.leaf(block) }

  /// The leaf hash of a full block of zeros.
  public mutating func fullZeroLeaf() -> Digest {
    if let zeroLeaf { return zeroLeaf }
    let leaf = hasher.zeroLeaf(count: Int(layout.blockSize))
    zeroLeaf = leaf
    return leaf
  }

  /// Whether a block with this leaf hash is a full block of zeros, told by its hash alone.
  private mutating func isZero(_ block: UnsafeRawBufferPointer, leaf: Digest) -> Bool {
    guard block.first == 0, Int64(block.count) == layout.blockSize else { return false }
    return leaf == fullZeroLeaf()
  }
}
