import Crypto
import MerkleTree

/// Where leaf hashes stand in a tree: which blocks of another file, or of the same one, can be used
/// for which block. 16 bytes a leaf.
///
/// It knows the first eight bytes of each hash: an answer is a proposal, and the block is verified
/// against its own proven leaf before it is written.
struct LeafIndex: Sendable {
  /// The largest tree that is indexed: 2^20 leaves, 16 MiB.
  static let maximumCount: Int64 = 1 << 20

  private var entries: [(prefix: UInt64, block: Int64)] = []
  private var learned: BlockSet
  private let count: Int64
  private(set) var isComplete = false

  init(count: Int64) {
    self.count = count
    learned = BlockSet(universe: count)
    // All at once: growing would take up to three times as much for a moment.
    entries.reserveCapacity(Int(count))
  }

  /// Adds leaves that the tree vouches for. The index answers once it has all of them.
  mutating func learn(_ blocks: Range<Int64>, _ leaves: ProvenLeaves) {
    guard !isComplete, learned.count(in: blocks) == 0 else { return }
    learned.insert(blocks)
    for block in blocks {
      if let leaf = leaves[block] { entries.append((Self.prefix(leaf), block)) }
    }
    guard learned.count == count else { return }
    entries.sort { ($0.prefix, $0.block) < ($1.prefix, $1.block) }
    isComplete = true
  }

  /// Whether some of those leaves were learned: leaves are learned by the tile.
  func hasLearned(_ blocks: Range<Int64>) -> Bool { learned.count(in: blocks) > 0 }

  /// The first block whose leaf hash may be this one. Requires a complete index.
  func block(of leaf: Digest) -> Int64? {
    let prefix = Self.prefix(leaf)
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].prefix < prefix { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].prefix == prefix ? entries[low].block : nil
  }

  /// The groups of blocks that may be equal, two or more in each. Requires a complete index.
  var twins: [[Int64]] {
    var groups: [[Int64]] = []
    var start = 0
    for end in 1..<max(1, entries.count + 1) {
      guard end == entries.count || entries[end].prefix != entries[start].prefix else { continue }
      if end - start > 1 { groups.append(entries[start..<end].map(\.block)) }
      start = end
    }
    return groups
  }

  private static func prefix(_ leaf: Digest) -> UInt64 {
    leaf.withBytes { $0.loadUnaligned(as: UInt64.self) }
  }
}
