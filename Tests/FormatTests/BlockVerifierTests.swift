import Crypto
import Failure
import MerkleTree
import Testing

@Suite struct BlockVerifierTests {
  private static let layout = BlockLayout(size: 2_505, blockSize: 10)!
  private static let bytes = (0..<2_505).map { UInt8(truncatingIfNeeded: $0 &* 7 | 1) }

  private static func block(_ index: Int64) -> [UInt8] { bytes(of: index..<index + 1) }

  private static func bytes(of blocks: Range<Int64>) -> [UInt8] {
    let range = layout.bytes(of: blocks)
    return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
  }

  /// The leaves of those blocks, as a tree proves them.
  private static func proven(_ blocks: [[UInt8]]) throws -> ProvenLeaves {
    let leaves = blocks.map(ReferenceTree.leaf)
    var tree = try AuthenticatedTree(
      count: Int64(leaves.count), root: ReferenceTree.root(leaves[...]))
    let edge = try SuspectTile(
      TileAddress(level: 0, index: 0, width: leaves.count), leaves.flatMap(\.bytes))
    try tree.authenticate(edge: [edge])
    let proven = tree.provenLeaves(0..<Int64(leaves.count))
    return try #require(proven)
  }

  private static func proven() throws -> ProvenLeaves {
    try proven((0..<layout.count).map(block))
  }

  /// What a check of `bytes` as `blocks` came to.
  private struct Outcome: Equatable {
    /// The runs that were lent.
    var lent: [Range<Int64>] = []
    var zero: [Bool] = []
    /// The blocks that were rejected.
    var rejected: [Int64] = []
    /// The refusal of the whole.
    var refusal: FailureCategory?
  }

  private func verify(
    _ bytes: [UInt8], blocks: Range<Int64>, leaves: ProvenLeaves, layout: BlockLayout = Self.layout
  ) -> Outcome {
    var verifier = BlockVerifier(layout: layout)
    var outcome = Outcome()
    bytes.withUnsafeBytes { raw in
      do throws(FetchFailure) {
        let rejected = try verifier.verify(raw, blocks: blocks, leaves: leaves) { verified in
          outcome.lent.append(verified.blocks)
          outcome.zero.append(verified.isZero)
          let within = layout.bytes(of: verified.blocks)
          let start = layout.offset(of: blocks.lowerBound)
          let wanted = bytes[Int(within.lowerBound - start)..<Int(within.upperBound - start)]
          #expect(Array(verified.bytes) == Array(wanted))
        }
        #expect(rejected.allSatisfy { $0.category == .blockMismatch })
        outcome.rejected = rejected.compactMap(\.block)
      } catch {
        outcome.refusal = error.category
      }
    }
    return outcome
  }

  @Test func `every right block is lent once`() throws {
    let leaves = try Self.proven()
    for index in 0..<Self.layout.count {
      let outcome = verify(Self.block(index), blocks: index..<index + 1, leaves: leaves)
      #expect(outcome == Outcome(lent: [index..<index + 1], zero: [false]))
    }
  }

  @Test func `right blocks in a row are lent as one`() throws {
    let (all, count) = (0..<Self.layout.count, Self.layout.count)
    let leaves = try Self.proven()
    #expect(
      verify(Self.bytes, blocks: all, leaves: leaves) == Outcome(lent: [all], zero: [false]))
    #expect(
      verify(Self.bytes(of: 7..<count), blocks: 7..<count, leaves: leaves)
        == Outcome(lent: [7..<count], zero: [false]))
  }

  @Test func `a wrong bit is refused and never lent`() throws {
    let leaves = try Self.proven()
    for index in 0..<Self.layout.count {
      var wrong = Self.block(index)
      wrong[Int(index) % wrong.count] ^= 1 << UInt8(index % 8)
      let outcome = verify(wrong, blocks: index..<index + 1, leaves: leaves)
      #expect(outcome == Outcome(rejected: [index]))
    }
  }

  @Test func `a genuine block in another's place is refused`() throws {
    let outcome = verify(Self.block(3), blocks: 4..<5, leaves: try Self.proven())
    #expect(outcome == Outcome(rejected: [4]))
  }

  /// Every pattern of good and bad over ten blocks, the short last one among them.
  @Test func `wrong blocks among right ones are left out, and the rest is lent`() throws {
    let leaves = try Self.proven()
    let blocks = Self.layout.count - 10..<Self.layout.count
    let right = Self.bytes(of: blocks)
    for pattern in 0..<1 << 10 {
      var (bytes, wanted) = (right, Outcome())
      for (position, block) in blocks.enumerated() {
        if pattern >> position & 1 == 1 {
          bytes[position * 10] ^= 0x80
          wanted.rejected.append(block)
        } else if let last = wanted.lent.last, last.upperBound == block {
          wanted.lent[wanted.lent.count - 1] = last.lowerBound..<block + 1
        } else {
          wanted.lent.append(block..<block + 1)
          wanted.zero.append(false)
        }
      }
      #expect(verify(bytes, blocks: blocks, leaves: leaves) == wanted)
    }
  }

  @Test func `another length is refused as a whole, and nothing is lent`() throws {
    let leaves = try Self.proven()
    let last = Self.layout.count - 1
    for blocks in [0..<1, 1..<2, 3..<9, last..<last + 1, last - 3..<last + 1] {
      let right = Self.bytes(of: blocks)
      for wrong in [[], Array(right.dropLast()), right + [0], right + right] {
        let outcome = verify(wrong, blocks: blocks, leaves: leaves)
        #expect(outcome == Outcome(refusal: .blockMismatch))
      }
    }
    let padded = Self.block(last) + [0, 0, 0, 0, 0]
    #expect(
      verify(padded, blocks: last..<last + 1, leaves: leaves) == Outcome(refusal: .blockMismatch))
  }

  @Test func `another length is refused even where its hash was signed`() throws {
    for wrong in [[], Array(1...9), Array(1...11)] as [[UInt8]] {
      var blocks = (0..<Self.layout.count).map(Self.block)
      blocks[1] = wrong
      let outcome = verify(wrong, blocks: 1..<2, leaves: try Self.proven(blocks))
      #expect(outcome == Outcome(refusal: .blockMismatch))
    }
  }

  @Test func `full blocks of zeros are lent apart, and said to be zero`() throws {
    let layout = try #require(BlockLayout(size: 75, blockSize: 10))
    var bytes = [UInt8](repeating: 0, count: 75)
    bytes[19] = 1
    bytes[50] = 1
    let blocks = stride(from: 0, to: 75, by: 10).map { Array(bytes[$0..<min(75, $0 + 10)]) }
    let leaves = try Self.proven(blocks)
    let all = verify(bytes, blocks: 0..<8, leaves: leaves, layout: layout)
    #expect(all.lent.flatMap { $0 } == Array(0..<8))
    #expect(all.lent.first == 0..<1 && all.zero.first == true)
    #expect(all.lent.dropFirst().first == 1..<2 && all.zero.dropFirst().first == false)
    #expect(all.lent.dropFirst(2).first == 2..<5 && all.zero.dropFirst(2).first == true)
    for (run, isZero) in zip(all.lent, all.zero) where isZero {
      #expect(layout.bytes(of: run).allSatisfy { bytes[Int($0)] == 0 })
    }
    var changed = bytes
    changed[25] = 1
    let outcome = verify(changed, blocks: 0..<8, leaves: leaves, layout: layout)
    #expect(outcome.rejected == [2])
    #expect(outcome.lent.flatMap { $0 } == [0, 1, 3, 4, 5, 6, 7])
  }

  @Test func `what the borrower throws comes through`() throws {
    let leaves = try Self.proven()
    var verifier = BlockVerifier(layout: Self.layout)
    let failure = FetchFailure(.noSpace, "the disk is full")
    var thrown: FetchFailure?
    Self.block(0).withUnsafeBytes { raw in
      do throws(FetchFailure) {
        _ = try verifier.verify(raw, blocks: 0..<1, leaves: leaves) { _ throws(FetchFailure) in
          throw failure
        }
      } catch {
        thrown = error
      }
    }
    #expect(thrown == failure)
  }
}
