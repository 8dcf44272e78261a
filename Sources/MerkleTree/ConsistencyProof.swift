import Crypto
import Failure

/// Proofs that one tree is a prefix of another (RFC 9162 section 2.1.4).
public enum ConsistencyProof {
  /// Checks that the tree of `size1` leaves under `root1` is a prefix of the tree of `size2` leaves
  /// under `root2`.
  ///
  /// - Throws: `proof-malformed` unless `0 < size1 <= size2`, the proof has exactly the nodes that it
  ///   needs and every hash has 32 bytes; `fork` if the roots do not come out. Which of the two is
  ///   wrong, proof or log, this check cannot tell.
  public static func verify(
    size1: Int64, root1: [UInt8], size2: Int64, root2: [UInt8], proof: [[UInt8]]
  ) throws(FetchFailure) {
    guard size1 > 0 else {
      throw InclusionProof.malformed("an empty tree is a prefix of all, and proves nothing")
    }
    guard size1 <= size2 else {
      throw InclusionProof.malformed("size \(size1) is no prefix of the smaller size \(size2)")
    }
    let root1 = try InclusionProof.digest(root1, "the first root")
    let root2 = try InclusionProof.digest(root2, "the second root")
    let needed = length(size1: size1, size2: size2)
    guard proof.count == needed else {
      throw InclusionProof.malformed(
        "\(proof.count) nodes instead of \(needed) between sizes \(size1) and \(size2)")
    }
    var nodes: [Digest] = []
    for node in proof { nodes.append(try InclusionProof.digest(node, "a node")) }
    guard size1 < size2 else {
      guard root1 == root2 else { throw mismatch(size1, size2) }
      return
    }
    if size1.nonzeroBitCount == 1 { nodes.insert(root1, at: 0) }
    let (first, second) = fold(nodes, size1: size1, size2: size2)
    guard first == root1, second == root2 else { throw mismatch(size1, size2) }
  }

  /// The two roots that `nodes` lead to: RFC 9162 section 2.1.4.2 without its step 2, so the root of
  /// the smaller tree stands in front when its size is a power of two. Requires `0 < size1 < size2`
  /// and exactly the nodes that this needs.
  static func fold(_ nodes: [Digest], size1: Int64, size2: Int64) -> (Digest, Digest) {
    var hasher = TreeHasher()
    var (fn, sn) = (size1 - 1, size2 - 1)
    while fn & 1 == 1 { (fn, sn) = (fn >> 1, sn >> 1) }
    var (first, second) = (nodes[0], nodes[0])
    for node in nodes.dropFirst() {
      if fn & 1 == 1 || fn == sn {
        first = hasher.node(node, first)
        second = hasher.node(node, second)
        while fn & 1 == 0, fn != 0 { (fn, sn) = (fn >> 1, sn >> 1) }
      } else {
        second = hasher.node(second, node)
      }
      (fn, sn) = (fn >> 1, sn >> 1)
    }
    return (first, second)
  }

  /// The roots of both trees as the larger one has them: `nodes` are PROOF(size1, D[size2]), with
  /// MTH(D[0:size1]) in front where size1 is a power of two. The nodes are those of the larger tree if
  /// and only if the second is its root; the first then is what that tree holds in its first `size1`
  /// leaves, whatever anybody says about the smaller one.
  ///
  /// - Throws: `proof-malformed` unless `0 < size1 < size2` and there are exactly the nodes needed.
  public static func impliedRoots(
    size1: Int64, size2: Int64, nodes: [Digest]
  ) throws(FetchFailure) -> (first: Digest, second: Digest) {
    guard size1 > 0, size1 < size2 else {
      throw InclusionProof.malformed("there is nothing to prove between \(size1) and \(size2)")
    }
    let needed =
      length(size1: size1, size2: size2) + (size1.nonzeroBitCount == 1 ? 1 : 0)
    guard nodes.count == needed else {
      throw InclusionProof.malformed(
        "\(nodes.count) nodes instead of \(needed) between sizes \(size1) and \(size2)")
    }
    let (first, second) = fold(nodes, size1: size1, size2: size2)
    return (first, second)
  }

  /// The number of nodes in PROOF(size1, D[size2]).
  static func length(size1: Int64, size2: Int64) -> Int {
    var nodes = 0
    visit(size1: size1, shape: TreeShape(count: size2)) { _, _ in nodes += 1 }
    return nodes
  }

  /// PROOF(size1, D[size2]), by the nodes that `node` gives for a (binary level, index). Requires
  /// `0 < size1 <= shape.count`.
  public static func make<E: Error>(
    size1: Int64, shape: TreeShape, node: (Int, Int64) throws(E) -> Digest
  ) throws(E) -> [Digest] {
    var proof: [Digest] = []
    try visit(size1: size1, shape: shape) { (level, index) throws(E) in
      proof.append(try node(level, index))
    }
    return proof
  }

  /// Visits the nodes of the proof in order: SUBPROOF walked down from the root and read backwards.
  private static func visit<E: Error>(
    size1: Int64, shape: TreeShape, _ body: (Int, Int64) throws(E) -> Void
  ) throws(E) {
    precondition(size1 > 0 && size1 <= shape.count, "MerkleTree: no such prefix")
    var (level, index, isPrefix) = (shape.height, Int64(0), true)
    var above: [(Int, Int64)] = []
    while shape.end(level: level, index: index) != size1 {
      level -= 1
      let right = 2 * index + 1
      let middle = right << level
      if middle >= shape.count {
        index *= 2
      } else if size1 <= middle {
        above.append((level, right))
        index *= 2
      } else {
        above.append((level, right - 1))
        (index, isPrefix) = (right, false)
      }
    }
    if !isPrefix { try body(level, index) }
    for (level, index) in above.reversed() { try body(level, index) }
  }

  private static func mismatch(_ size1: Int64, _ size2: Int64) -> FetchFailure {
    FetchFailure(.fork, "the tree of size \(size1) is no prefix of the tree of size \(size2)")
  }
}
