import Crypto
import Failure
import MerkleTree
import Testing

@Suite struct InclusionProofTests {
  static let leaves = (0..<130).map { ReferenceTree.leaf([UInt8($0), 7]) }

  private func verify(
    _ leaf: Digest, _ index: Int64, _ count: Int64, _ siblings: [Digest], _ root: Digest
  ) -> FailureCategory? {
    category { () throws(FetchFailure) in
      try InclusionProof.verify(
        leaf: leaf.bytes, index: index, count: count, siblings: siblings.map(\.bytes),
        root: root.bytes)
    }
  }

  // covers: F37
  @Test(arguments: 1...130)
  func `paths and roots are those of RFC 9162, and no mutation of one passes`(count: Int) {
    let leaves = Self.leaves.prefix(count)
    let root = ReferenceTree.root(leaves)
    let nodes = ReferenceTree.nodes(leaves)
    let shape = TreeShape(count: Int64(count))
    var builder = TreeBuilder()
    for leaf in leaves { builder.append(leaf) { _, _ in } }
    #expect(builder.root() == root)

    for index in 0..<count {
      let (leaf, at, of) = (leaves[index], Int64(index), Int64(count))
      let path = ReferenceTree.path(index, leaves)
      let made = InclusionProof.make(index: at, shape: shape) {
        nodes[$0][Int($1)]
      }
      #expect(made == path)
      #expect(shape.auditPathLength(index: at) == path.count)
      #expect(verify(leaf, at, of, path, root) == nil)

      #expect(verify(leaf, at, of, path + [root], root) == .proofMalformed)
      #expect(verify(leaf, at, of, [leaf] + path, root) == .proofMalformed)
      let bit = (index * 37 + count * 11) % 256
      #expect(verify(leaf.flipping(bit: bit), at, of, path, root) == .blockMismatch)
      #expect(verify(leaf, at, of, path, root.flipping(bit: bit)) == .blockMismatch)
      for outside in [-1, of, of + 1, .max, .min] {
        #expect(verify(leaf, outside, of, path, root) == .proofMalformed)
      }
      for shift in 0..<8 {
        #expect(verify(leaf, at ^ 1 << Int64(shift), of, path, root) != nil)
      }

      guard !path.isEmpty else { continue }
      #expect(verify(leaf, at, of, path.dropLast(), root) == .proofMalformed)
      #expect(verify(leaf, at, of, Array(path.dropFirst()), root) == .proofMalformed)
      #expect(verify(path[0], at, of, [leaf] + path.dropFirst(), root) == .blockMismatch)
      var flipped = path
      flipped[bit % path.count] = flipped[bit % path.count].flipping(bit: bit)
      #expect(verify(leaf, at, of, flipped, root) == .blockMismatch)
      guard path.count > 1 else { continue }
      var swapped = path
      swapped.swapAt(bit % (path.count - 1), path.count - 1)
      #expect(verify(leaf, at, of, swapped, root) == .blockMismatch)
    }
  }

  @Test func `every other index of a tree of 33 leaves is refused for every path`() {
    let leaves = Self.leaves.prefix(33)
    let root = ReferenceTree.root(leaves)
    for index in leaves.indices {
      let path = ReferenceTree.path(index, leaves)
      for claimed in leaves.indices where claimed != index {
        #expect(verify(leaves[index], Int64(claimed), 33, path, root) != nil)
      }
    }
  }

  @Test(arguments: [0, -1, Int64.min])
  func `a tree without leaves has no proofs`(count: Int64) {
    #expect(verify(.empty, 0, count, [], .empty) == .proofMalformed)
  }

  // covers: F37
  @Test func `a node given as a leaf is refused at the signed count`() {
    let leaves = Self.leaves.prefix(8)
    let (root, path) = (ReferenceTree.root(leaves), ReferenceTree.path(2, leaves))
    let parent = ReferenceTree.node(level: 1, index: 1, leaves)
    #expect(verify(parent, 1, 8, Array(path.dropFirst()), root) == .proofMalformed)
    #expect(verify(parent, 1, 4, Array(path.dropFirst()), root) == nil, "the root binds no count")
  }

  @Test func `two hashes in a row are no block that hashes to their node`() {
    let leaves = Self.leaves.prefix(2)
    let block = leaves[0].bytes + leaves[1].bytes
    #expect(
      category { () throws(FetchFailure) in
        try InclusionProof.verify(
          block: block, length: 64, index: 0, count: 1, siblings: [],
          root: ReferenceTree.root(leaves).bytes)
      } == .blockMismatch)
  }

  @Test func `a last leaf that stands twice gives another root`() {
    let three = Self.leaves.prefix(3)
    let path = ReferenceTree.path(2, three)
    let doubled = ReferenceTree.root([three[0], three[1], three[2], three[2]])
    #expect(verify(three[2], 2, 3, path, doubled) == .blockMismatch)
    #expect(verify(three[2], 2, 3, [three[2]] + path, doubled) == .proofMalformed)
  }

  // covers: F37
  @Test func `a million siblings are refused`() {
    let siblings = [Digest](repeating: Self.leaves[0], count: 1_000_000)
    #expect(verify(Self.leaves[0], 0, .max, siblings, .empty) == .proofMalformed)
  }

  @Test(arguments: [0, 31, 33, 64])
  func `a hash that has not 32 bytes is refused`(length: Int) {
    let (leaves, short) = (Self.leaves.prefix(2), [UInt8](repeating: 0, count: length))
    let (good, root) = (leaves[1].bytes, ReferenceTree.root(leaves).bytes)
    let cases = [
      (short, good, root), (leaves[0].bytes, short, root), (leaves[0].bytes, good, short),
    ]
    for (leaf, sibling, root) in cases {
      #expect(
        category { () throws(FetchFailure) in
          try InclusionProof.verify(leaf: leaf, index: 0, count: 2, siblings: [sibling], root: root)
        } == .proofMalformed)
    }
  }

  @Test func `a block is proven by its bytes and its exact length`() {
    let blocks: [[UInt8]] = [[1, 2, 3], [4, 5]]
    let leaves = blocks.map(ReferenceTree.leaf)
    let root = ReferenceTree.root(leaves[...]).bytes
    func verify(_ block: [UInt8], length: Int) -> FailureCategory? {
      category { () throws(FetchFailure) in
        try InclusionProof.verify(
          block: block, length: length, index: 1, count: 2, siblings: [leaves[0].bytes],
          root: root)
      }
    }
    #expect(verify([4, 5], length: 2) == nil)
    #expect(verify([4, 5], length: 3) == .blockMismatch)
    #expect(verify([4, 5, 0], length: 3) == .blockMismatch)
    #expect(verify([4, 4], length: 2) == .blockMismatch)
    #expect(verify([], length: 2) == .blockMismatch)
  }

  @Test func `a path in the largest tree has a node for each bit`() {
    let shape = TreeShape(count: .max)
    #expect(shape.auditPathLength(index: 0) == 63)
    #expect(shape.height == 63)
    #expect(shape.auditPathLength(index: .max - 1) == 62)
  }
}
