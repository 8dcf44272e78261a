import Crypto
import Failure
import MerkleTree
import Testing

@Suite struct BlockVerifierTests {
  private let layout = BlockLayout(size: 2_505, blockSize: 10)!
  private let bytes = (0..<2_505).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  private func block(_ index: Int64) -> [UInt8] {
    let range = layout.bytes(of: index..<index + 1)
    return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
  }

  private func proven() throws -> ProvenLeaves {
    try proven((0..<layout.count).map { ReferenceTree.leaf(block($0)) })
  }

  private func proven(_ leaves: [Digest]) throws -> ProvenLeaves {
    var tree = try AuthenticatedTree(count: layout.count, root: ReferenceTree.root(leaves[...]))
    let edge = try SuspectTile(
      TileAddress(level: 0, index: 0, width: leaves.count), leaves.flatMap(\.bytes))
    try tree.authenticate(edge: [edge])
    return tree.provenLeaves(0..<layout.count)
  }

  /// What became of the check, and how often the block was lent.
  private func verify(
    _ block: [UInt8], index: Int64, leaves: ProvenLeaves
  ) -> (refusal: FailureCategory?, lent: Int) {
    var verifier = BlockVerifier(layout: layout)
    var lent = 0
    let refusal = category { () throws(FetchFailure) in
      var failure: FetchFailure?
      block.withUnsafeBytes { raw in
        do throws(FetchFailure) {
          try verifier.verify(raw, index: index, leaves: leaves) { verified in
            lent += 1
            #expect(verified.index == index && Array(verified.bytes) == block)
          }
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
    }
    return (refusal, lent)
  }

  @Test func `every right block is lent once`() throws {
    let leaves = try proven()
    for index in 0..<layout.count {
      #expect(verify(block(index), index: index, leaves: leaves) == (nil, 1))
    }
  }

  @Test func `a wrong bit or another block is refused and never lent`() throws {
    let leaves = try proven()
    for index in 0..<layout.count {
      var wrong = block(index)
      wrong[Int(index) % wrong.count] ^= 1 << UInt8(index % 8)
      #expect(verify(wrong, index: index, leaves: leaves) == (.blockMismatch, 0))
    }
    #expect(verify(block(3), index: 4, leaves: leaves) == (.blockMismatch, 0))
  }

  @Test func `a block of another length is refused and never lent`() throws {
    let leaves = try proven()
    for index in [0, 1, layout.count - 1] {
      let right = block(index)
      for wrong in [[], right.dropLast(), right + [0], right + right] {
        #expect(verify(Array(wrong), index: index, leaves: leaves) == (.blockMismatch, 0))
      }
    }
    #expect(
      verify(block(layout.count - 1) + [0, 0, 0, 0, 0], index: layout.count - 1, leaves: leaves)
        == (.blockMismatch, 0), "the last block is not padded")
  }

  @Test func `a block of another length is refused even where its hash was signed`() throws {
    for wrong in [[UInt8]](arrayLiteral: [], [1, 2, 3, 4, 5, 6, 7, 8, 9], block(1) + [0]) {
      var leaves = (0..<layout.count).map { ReferenceTree.leaf(block($0)) }
      leaves[1] = ReferenceTree.leaf(wrong)
      #expect(verify(wrong, index: 1, leaves: try proven(leaves)) == (.blockMismatch, 0))
    }
  }

  @Test func `what the borrower throws comes through`() throws {
    let leaves = try proven()
    var verifier = BlockVerifier(layout: layout)
    let failure = FetchFailure(.noSpace, "the disk is full")
    #expect(throws: failure) {
      try block(0).withUnsafeBytes { raw in
        try verifier.verify(raw, index: 0, leaves: leaves) { _ throws(FetchFailure) in throw failure
        }
      }
    }
  }
}
