import Crypto

/// The definitions of RFC 9162 section 2.1, word for word and as slow as they read, over a list of
/// leaf hashes. Shares nothing with the product but the digest type and SHA-256 itself.
enum ReferenceTree {
  /// `HASH(0x00 || d)`.
  static func leaf(_ entry: [UInt8]) -> Digest { SHA256.digest([0x00] + entry) }

  /// MTH(D_n).
  static func root(_ leaves: ArraySlice<Digest>) -> Digest {
    guard leaves.count > 1 else { return leaves.first ?? SHA256.digest([]) }
    let (left, right) = split(leaves)
    return node(root(left), root(right))
  }

  /// PATH(m, D_n).
  static func path(_ m: Int, _ leaves: ArraySlice<Digest>) -> [Digest] {
    guard leaves.count > 1 else { return [] }
    let (left, right) = split(leaves)
    return m < left.count
      ? path(m, left) + [root(right)]
      : path(m - left.count, right) + [root(left)]
  }

  /// PROOF(m, D_n) = SUBPROOF(m, D_n, true).
  static func consistency(_ m: Int, _ leaves: ArraySlice<Digest>) -> [Digest] {
    subproof(m, leaves, true)
  }

  private static func subproof(_ m: Int, _ leaves: ArraySlice<Digest>, _ b: Bool) -> [Digest] {
    guard m < leaves.count else { return b ? [] : [root(leaves)] }
    let (left, right) = split(leaves)
    return m <= left.count
      ? subproof(m, left, b) + [root(right)]
      : subproof(m - left.count, right, false) + [root(left)]
  }

  /// All nodes, by level and index.
  static func nodes(_ leaves: ArraySlice<Digest>) -> [[Digest]] {
    var levels: [[Digest]] = []
    repeat {
      let width = 1 << levels.count
      levels.append(
        (0..<(leaves.count + width - 1) / width).map {
          node(level: levels.count, index: $0, leaves)
        })
    } while levels.last?.count ?? 0 > 1
    return levels
  }

  /// The node (binary level, index): the root over the leaves that stand below it.
  static func node(level: Int, index: Int, _ leaves: ArraySlice<Digest>) -> Digest {
    root(leaves[(index << level)..<min(leaves.count, (index + 1) << level)])
  }

  private static func node(_ left: Digest, _ right: Digest) -> Digest {
    SHA256.digest([0x01] + left.bytes + right.bytes)
  }

  /// At k, the largest power of two smaller than n.
  private static func split(_ leaves: ArraySlice<Digest>) -> (
    ArraySlice<Digest>, ArraySlice<Digest>
  ) {
    var k = 1
    while k * 2 < leaves.count { k *= 2 }
    return (leaves.prefix(k), leaves.dropFirst(k))
  }
}

extension Digest {
  /// The same with one bit turned over.
  func flipping(bit: Int) -> Digest {
    var bytes = bytes
    bytes[bit / 8 % bytes.count] ^= 1 << UInt8(bit % 8)
    return Digest(bytes) ?? self
  }
}
