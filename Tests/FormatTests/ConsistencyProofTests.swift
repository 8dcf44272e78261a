import Crypto
import Failure
import MerkleTree
import Testing

@Suite struct ConsistencyProofTests {
  private static let leaves = (0..<70).map { ReferenceTree.leaf([UInt8($0), 9]) }
  private static let roots = (0...70).map { ReferenceTree.root(leaves.prefix($0)) }

  private func verify(
    _ size1: Int64, _ root1: Digest, _ size2: Int64, _ root2: Digest, _ proof: [Digest]
  ) -> FailureCategory? {
    category { () throws(FetchFailure) in
      try ConsistencyProof.verify(
        size1: size1, root1: root1.bytes, size2: size2, root2: root2.bytes,
        proof: proof.map(\.bytes))
    }
  }

  @Test(arguments: 1...70)
  func `proofs are those of RFC 9162, and no mutation of one passes`(size2: Int) {
    let leaves = Self.leaves.prefix(size2)
    let nodes = ReferenceTree.nodes(leaves)
    let root2 = Self.roots[size2]
    for size1 in 1...size2 {
      let (root1, from, to) = (Self.roots[size1], Int64(size1), Int64(size2))
      let proof = ReferenceTree.consistency(size1, leaves)
      let made = ConsistencyProof.make(size1: from, shape: TreeShape(count: to)) {
        nodes[$0][Int($1)]
      }
      #expect(made == proof)
      #expect(verify(from, root1, to, root2, proof) == nil)

      let bit = (size1 * 37 + size2 * 11) % 256
      #expect(verify(from, root1, to, root2, proof + [root2]) == .proofMalformed)
      #expect(verify(from, root1, to, root2, [root1] + proof) == .proofMalformed)
      #expect(verify(from, root1.flipping(bit: bit), to, root2, proof) == .fork)
      #expect(verify(from, root1, to, root2.flipping(bit: bit), proof) == .fork)
      #expect(verify(0, .empty, to, root2, proof) == .proofMalformed)
      #expect(verify(-from, root1, to, root2, proof) == .proofMalformed)
      #expect(verify(from, root1, from - 1, root1, proof) == .proofMalformed)
      let otherSize = size1 % size2 + 1
      if otherSize != size1 { #expect(verify(Int64(otherSize), root1, to, root2, proof) != nil) }

      guard !proof.isEmpty else { continue }
      #expect(verify(from, root2, to, root1, proof) == .fork)
      #expect(verify(from, root1, to, root2, proof.dropLast()) == .proofMalformed)
      #expect(verify(from, root1, to, root2, Array(proof.dropFirst())) == .proofMalformed)
      var flipped = proof
      flipped[bit % proof.count] = flipped[bit % proof.count].flipping(bit: bit)
      #expect(verify(from, root1, to, root2, flipped) == .fork)
      guard proof.count > 1 else { continue }
      var swapped = proof
      swapped.swapAt(bit % (proof.count - 1), proof.count - 1)
      #expect(verify(from, root1, to, root2, swapped) == .fork)
    }
  }

  @Test func `trees that went apart are a fork`() {
    var other = Array(Self.leaves.prefix(20))
    other[5] = Self.leaves[60]
    let proof = ReferenceTree.consistency(9, other[...])
    #expect(verify(9, Self.roots[9], 20, ReferenceTree.root(other[...]), proof) == .fork)
    #expect(verify(9, ReferenceTree.root(other.prefix(9)), 20, Self.roots[20], proof) == .fork)
  }

  @Test func `a tree is consistent with itself by an empty proof alone, however large`() {
    for size in [1, 2, 1 << 62, (1 << 62) + 1, Int64.max - 1, .max] {
      let root = Self.leaves[0]
      #expect(verify(size, root, size, root, []) == nil)
      #expect(verify(size, root, size, Self.leaves[1], []) == .fork)
      #expect(verify(size, root, size, root, [root]) == .proofMalformed)
    }
  }

  @Test func `a proof in the largest tree has the nodes that the tree has`() {
    let proof = ConsistencyProof.make(size1: 1, shape: TreeShape(count: .max)) { _, _ in .empty }
    #expect(proof.count == 63)
    #expect(verify(1, Self.leaves[0], .max, Self.roots[3], proof) == .fork)
  }

  @Test(arguments: [0, 31, 33])
  func `a hash that has not 32 bytes is refused`(length: Int) {
    let short = [UInt8](repeating: 0, count: length)
    let (root1, root2) = (Self.roots[1].bytes, Self.roots[2].bytes)
    let node = Self.leaves[1].bytes
    for (root1, root2, node) in [(short, root2, node), (root1, short, node), (root1, root2, short)]
    {
      #expect(
        category { () throws(FetchFailure) in
          try ConsistencyProof.verify(
            size1: 1, root1: root1, size2: 2, root2: root2, proof: [node])
        } == .proofMalformed)
    }
  }

  @Test func `a million nodes are refused`() {
    let nodes = [Digest](repeating: Self.leaves[0], count: 1_000_000)
    #expect(verify(3, Self.roots[3], .max, Self.roots[4], nodes) == .proofMalformed)
  }
}
