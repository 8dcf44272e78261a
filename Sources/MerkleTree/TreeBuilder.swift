import Crypto

/// Builds a tree from its leaf hashes in order, giving out each hash tile as soon as it is full, so
/// that memory does not grow with the tree.
public struct TreeBuilder: ~Copyable {
  public private(set) var count: Int64
  private var hasher = TreeHasher()
  /// The hashes of each tile level that stand in no full tile yet, fewer than 256 each.
  private var pending: [[Digest]]
  private var full: [Int64]

  public init() {
    (count, pending, full) = (0, [], [])
  }

  /// Continues a tree of `count` leaves whose partial tiles hold `edge`, by level; a level whose
  /// width is a multiple of 256 has no hash there.
  init(count: Int64, edge: [[Digest]]) {
    let shape = TreeShape(count: count)
    self.count = count
    pending = edge
    full = (0..<edge.count).map { shape.tileLevelWidth($0) / Int64(Tile.width) }
  }

  /// Adds a leaf. `emit` gets every tile that became full, with its bytes.
  public mutating func append<E: Error>(
    _ leaf: Digest, emit: (TileAddress, [UInt8]) throws(E) -> Void
  ) throws(E) {
    count += 1
    var (level, node) = (0, leaf)
    while true {
      if level == pending.count {
        pending.append([])
        full.append(0)
      }
      pending[level].append(node)
      guard pending[level].count == Tile.width else { return }
      try emit(TileAddress(level: level, index: full[level]), Self.bytes(pending[level]))
      node = hasher.fold(pending[level])
      pending[level].removeAll(keepingCapacity: true)
      full[level] += 1
      level += 1
    }
  }

  /// The partial tiles of the tree as it is now, lowest level first, and its root. More leaves may
  /// follow.
  public mutating func finish<E: Error>(
    emit: (TileAddress, [UInt8]) throws(E) -> Void
  ) throws(E) -> Digest {
    for level in pending.indices where !pending[level].isEmpty {
      try emit(
        TileAddress(level: level, index: full[level], width: pending[level].count),
        Self.bytes(pending[level]))
    }
    return root()
  }

  /// The root of the tree as it is now.
  public mutating func root() -> Digest {
    hasher.foldEdge(pending) ?? .empty
  }

  private static func bytes(_ hashes: [Digest]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hashes.count * Digest.byteCount)
    for hash in hashes { hash.withBytes { bytes.append(contentsOf: $0) } }
    return bytes
  }
}

extension TreeHasher {
  /// The root over the partial tiles of a tree, lowest level first: what is left over on a level is
  /// the last node of the level above. Nil without any hash.
  mutating func foldEdge(_ edge: [[Digest]]) -> Digest? {
    var rest: Digest?
    for level in edge {
      let nodes = level + (rest.map { [$0] } ?? [])
      if !nodes.isEmpty { rest = fold(nodes) }
    }
    return rest
  }
}
