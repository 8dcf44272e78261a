import Crypto
import Failure
import MerkleTree

extension FuzzTarget {
  /// A proof is accepted exactly if the recursive definition of RFC 9162 says so, whatever the size of
  /// the tree; and what the product builds over random leaves is what that definition builds.
  static let inclusionProof = FuzzTarget("inclusion-proof") { bytes in
    var reader = InputReader(bytes)
    let kind = reader.byte()
    var leaf = reader.digest()
    var (index, count, path): (Int64, Int64, [Digest])
    var root: Digest?
    if kind % 2 == 0 {
      let size = reader.choice(130) + 1
      let leaves = randomLeaves(size, &reader)
      let at = reader.choice(size)
      (leaf, index, count) = (leaves[at], Int64(at), Int64(size))
      path = ReferenceTree.path(at, leaves[...])
      root = ReferenceTree.root(leaves[...])
      expectBuilt(leaves, index: index, path: path, root: root)
    } else {
      (index, count) = (reader.number(), reader.number())
      let length = kind % 3 == 0 ? reader.choice(70) : pathLength(index, count)
      path = (0..<length).map { _ in reader.digest() }
      root = ReferenceProof.root(leaf, index, count, path[...])
    }
    var siblings = path.map(\.bytes)
    var rootBytes = (root ?? reader.digest()).bytes
    mutate(&siblings, &rootBytes, &reader)
    if reader.byte() == 1 { index ^= 1 << Int64(reader.byte() % 63) }
    if reader.byte() == 1 { count ^= 1 << Int64(reader.byte() % 63) }

    let digests = siblings.map { Digest($0) }
    var isRight = false
    if !digests.contains(nil) {
      let found = ReferenceProof.root(leaf, index, count, digests.compactMap { $0 }[...])
      isRight = found != nil && found == Digest(rootBytes)
    }
    let result = Result { () throws(FetchFailure) in
      try InclusionProof.verify(
        leaf: leaf.bytes, index: index, count: count, siblings: siblings, root: rootBytes)
    }
    agree(result, isRight, [.proofMalformed, .blockMismatch])
  }

  /// The same for proofs that one tree is the beginning of another.
  static let consistencyProof = FuzzTarget("consistency-proof") { bytes in
    var reader = InputReader(bytes)
    let kind = reader.byte()
    var (size1, size2, proof): (Int64, Int64, [Digest])
    var roots: (Digest, Digest)?
    if kind % 2 == 0 {
      let size = reader.choice(130) + 1
      let leaves = randomLeaves(size, &reader)
      let prefix = reader.choice(size) + 1
      (size1, size2) = (Int64(prefix), Int64(size))
      proof = ReferenceTree.consistency(prefix, leaves[...])
      roots = (ReferenceTree.root(leaves.prefix(prefix)), ReferenceTree.root(leaves[...]))
    } else {
      (size1, size2) = (reader.number(), reader.number())
      proof = (0..<reader.choice(70)).map { _ in reader.digest() }
      let root1 = reader.digest()
      // Cut to the number of nodes that the sizes need, if there are enough.
      for length in 0...proof.count {
        roots = ReferenceProof.roots(size1, root1, size2, proof[..<length])
        if roots == nil { continue }
        proof.removeLast(proof.count - length)
        break
      }
    }
    var nodes = proof.map(\.bytes)
    var root1 = (roots?.0 ?? reader.digest()).bytes
    var root2 = (roots?.1 ?? reader.digest()).bytes
    mutate(&nodes, &root2, &reader)
    if reader.byte() == 1 { root1[Int(reader.byte() % 32)] ^= reader.byte() }
    if reader.byte() == 1 { size1 ^= 1 << Int64(reader.byte() % 63) }
    if reader.byte() == 1 { size2 ^= 1 << Int64(reader.byte() % 63) }

    let digests = nodes.map { Digest($0) }
    var isRight = false
    if !digests.contains(nil), let first = Digest(root1), let second = Digest(root2) {
      let found = ReferenceProof.roots(size1, first, size2, digests.compactMap { $0 }[...])
      isRight = found.map { $0 == (first, second) } == true
    }
    let result = Result { () throws(FetchFailure) in
      try ConsistencyProof.verify(
        size1: size1, root1: root1, size2: size2, root2: root2, proof: nodes)
    }
    agree(result, isRight, [.proofMalformed, .fork])
  }

  // MARK: Parts

  private static func agree(
    _ result: Result<Void, FetchFailure>, _ isRight: Bool, _ categories: Set<FailureCategory>
  ) {
    switch result {
    case .success: expect(isRight, "a wrong proof was accepted")
    case .failure(let failure):
      expect(!isRight, "a right proof was refused: \(failure)")
      expect(categories.contains(failure.category), "\(failure)")
    }
  }

  /// Leaves of few kinds, so that equal subtrees come up.
  private static func randomLeaves(_ count: Int, _ reader: inout InputReader) -> [Digest] {
    let kinds = (0..<Int(reader.byte() % 7) + 1).map { ReferenceTree.leaf([UInt8($0)]) }
    var state = UInt64(reader.byte())
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return kinds[Int(state >> 40) % kinds.count]
    }
  }

  private static func expectBuilt(
    _ leaves: [Digest], index: Int64, path: [Digest], root: Digest?
  ) {
    var builder = TreeBuilder()
    for leaf in leaves { builder.append(leaf) { _, _ in } }
    expect(builder.root() == root, "another root")
    let nodes = ReferenceTree.nodes(leaves[...])
    let made = InclusionProof.make(index: index, shape: TreeShape(count: Int64(leaves.count))) {
      nodes[$0][Int($1)]
    }
    expect(made == path, "another path")
  }

  private static func pathLength(_ index: Int64, _ count: Int64) -> Int {
    count > 0 && (0..<count).contains(index)
      ? TreeShape(count: count).auditPathLength(index: index)
      : 0
  }

  private static func mutate(
    _ nodes: inout [[UInt8]], _ root: inout [UInt8], _ reader: inout InputReader
  ) {
    for _ in 0..<reader.byte() % 4 {
      let place = nodes.isEmpty ? 0 : reader.choice(nodes.count)
      switch reader.byte() % 8 {
      case 0 where !nodes.isEmpty: nodes[place][Int(reader.byte()) % 32] ^= reader.byte()
      case 1 where !nodes.isEmpty: nodes.remove(at: place)
      case 2: nodes.insert(reader.digest().bytes, at: place)
      case 3 where !nodes.isEmpty: nodes.swapAt(place, nodes.count - 1)
      case 4 where !nodes.isEmpty: nodes[place] += [reader.byte()]
      case 5 where !nodes.isEmpty: nodes.append(nodes[place])
      case 6: root[Int(reader.byte()) % 32] ^= reader.byte()
      default: break
      }
    }
  }
}
