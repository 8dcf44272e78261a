import Crypto

/// The two hash functions of the tree (RFC 6962 section 2.1): `H(0x00 ‖ block)` for a leaf and
/// `H(0x01 ‖ left ‖ right)` for a node. Holds a hash context; one per thread.
public struct TreeHasher: ~Copyable {
  private var hash = SHA256()

  public init() {}

  public mutating func leaf(_ block: UnsafeRawBufferPointer) -> Digest {
    hash.reset()
    hash.update(byte: 0x00)
    hash.update(block)
    return hash.finish()
  }

  public mutating func leaf(_ block: [UInt8]) -> Digest {
    block.withUnsafeBytes { leaf($0) }
  }

  /// The leaf hash of `count` zero bytes.
  public mutating func zeroLeaf(count: Int) -> Digest {
    let zeros = [UInt8](repeating: 0, count: min(count, 64 << 10))
    hash.reset()
    hash.update(byte: 0x00)
    var left = count
    while left > 0 {
      zeros.withUnsafeBytes {
        hash.update(UnsafeRawBufferPointer(rebasing: $0[..<min(left, zeros.count)]))
      }
      left -= zeros.count
    }
    return hash.finish()
  }

  public mutating func node(_ left: Digest, _ right: Digest) -> Digest {
    hash.reset()
    hash.update(byte: 0x01)
    hash.update(left)
    hash.update(right)
    return hash.finish()
  }

  /// The node over up to 256 adjacent nodes that begin at a multiple of 256, by odd promotion: the
  /// last one of a level that is alone moves up unchanged. Requires at least one.
  public mutating func fold(_ nodes: [Digest]) -> Digest {
    precondition(!nodes.isEmpty, "MerkleTree: nothing to fold")
    var level = nodes
    while level.count > 1 {
      var above: [Digest] = []
      above.reserveCapacity((level.count + 1) / 2)
      for pair in stride(from: 0, to: level.count, by: 2) {
        above.append(
          pair + 1 < level.count ? node(level[pair], level[pair + 1]) : level[pair])
      }
      level = above
    }
    return level[0]
  }
}
