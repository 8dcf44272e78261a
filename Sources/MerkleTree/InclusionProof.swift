import Crypto
import Failure

/// Audit paths (RFC 9162 section 2.1.3) with odd promotion: the siblings from leaf to root, only
/// those that exist.
///
/// Index and count come from the signed manifest and the request, never from whoever sends the
/// proof: the root alone binds neither.
public enum InclusionProof {
  /// Checks that the block with these bytes is block `index` of `count` under `root`.
  ///
  /// - Parameter length: the exact length that block `index` has, in bytes.
  /// - Throws: `proof-malformed` for a count below 1, an index outside `0..<count`, any other number
  ///   of siblings than the path needs, or a hash that is not 32 bytes; `block-mismatch` for a block
  ///   of another length or another content.
  public static func verify(
    block: [UInt8], length: Int, index: Int64, count: Int64, siblings: [[UInt8]], root: [UInt8]
  ) throws(FetchFailure) {
    guard block.count == length else {
      throw FetchFailure(
        .blockMismatch, "block \(index) has \(block.count) bytes instead of \(length)",
        block: index)
    }
    var hasher = TreeHasher()
    try verify(
      leaf: hasher.leaf(block).bytes, index: index, count: count, siblings: siblings, root: root)
  }

  /// The form for a leaf hash. It proves that the hash stands in the tree, not that it is the hash of
  /// a block of the right length: content is proven only by the form that takes the bytes.
  public static func verify(
    leaf: [UInt8], index: Int64, count: Int64, siblings: [[UInt8]], root: [UInt8]
  ) throws(FetchFailure) {
    guard count > 0 else { throw malformed("a tree of \(count) leaves has no proofs") }
    guard index >= 0, index < count else {
      throw malformed("index \(index) is outside a tree of \(count) leaves")
    }
    let needed = TreeShape(count: count).auditPathLength(index: index)
    guard siblings.count == needed else {
      throw malformed(
        "\(siblings.count) siblings instead of \(needed) for index \(index) of \(count)")
    }
    var node = try digest(leaf, "the leaf hash")
    let root = try digest(root, "the root")
    var path: [Digest] = []
    for sibling in siblings { path.append(try digest(sibling, "a sibling")) }

    var hasher = TreeHasher()
    var next = 0
    TreeShape(count: count).walk(index: index) { sibling in
      node = sibling.isLeft ? hasher.node(path[next], node) : hasher.node(node, path[next])
      next += 1
    }
    guard node == root else {
      throw FetchFailure(
        .blockMismatch, "the proof of index \(index) leads to \(node), not to the root \(root)",
        block: index)
    }
  }

  /// The audit path of leaf `index`, by the nodes that `node` gives for a (binary level, index).
  /// Requires `0 <= index < shape.count`.
  public static func make<E: Error>(
    index: Int64, shape: TreeShape, node: (Int, Int64) throws(E) -> Digest
  ) throws(E) -> [Digest] {
    var wanted: [TreeShape.Sibling] = []
    shape.walk(index: index) { wanted.append($0) }
    var path: [Digest] = []
    for sibling in wanted { path.append(try node(sibling.level, sibling.index)) }
    return path
  }

  static func malformed(_ message: String) -> FetchFailure {
    FetchFailure(.proofMalformed, message)
  }

  static func digest(_ bytes: [UInt8], _ what: String) throws(FetchFailure) -> Digest {
    guard let digest = Digest(bytes) else {
      throw malformed("\(what) has \(bytes.count) bytes instead of \(Digest.byteCount)")
    }
    return digest
  }
}
