import Crypto

/// What a proof leads to, by the recursive definitions of RFC 9162 section 2.1 read backwards. Nil
/// where the definition has no proof of that shape.
enum ReferenceProof {
  /// The root that PATH(index, D_count) leads to from `leaf`.
  static func root(
    _ leaf: Digest, _ index: Int64, _ count: Int64, _ path: ArraySlice<Digest>
  ) -> Digest? {
    guard count > 0, index >= 0, index < count else { return nil }
    guard count > 1 else { return path.isEmpty ? leaf : nil }
    guard let last = path.last else { return nil }
    let k = split(count)
    return index < k
      ? root(leaf, index, k, path.dropLast()).map { node($0, last) }
      : root(leaf, index - k, count - k, path.dropLast()).map { node(last, $0) }
  }

  /// The two roots that PROOF(m, D_n) leads to, where that of the smaller tree is `known`.
  static func roots(
    _ m: Int64, _ known: Digest, _ n: Int64, _ proof: ArraySlice<Digest>
  ) -> (Digest, Digest)? {
    guard m > 0, m <= n else { return nil }
    return subproof(m, known, n, proof, true)
  }

  private static func subproof(
    _ m: Int64, _ known: Digest, _ n: Int64, _ proof: ArraySlice<Digest>, _ b: Bool
  ) -> (Digest, Digest)? {
    if m == n {
      if b { return proof.isEmpty ? (known, known) : nil }
      return proof.count == 1 ? proof.first.map { ($0, $0) } : nil
    }
    guard let last = proof.last else { return nil }
    let k = split(n)
    return m <= k
      ? subproof(m, known, k, proof.dropLast(), b).map { ($0.0, node($0.1, last)) }
      : subproof(m - k, known, n - k, proof.dropLast(), false)
        .map { (node(last, $0.0), node(last, $0.1)) }
  }

  private static func node(_ left: Digest, _ right: Digest) -> Digest {
    SHA256.digest([0x01] + left.bytes + right.bytes)
  }

  /// The largest power of two smaller than `n`, which is at least 2.
  private static func split(_ n: Int64) -> Int64 {
    1 << Int64(63 - (n - 1).leadingZeroBitCount)
  }
}
