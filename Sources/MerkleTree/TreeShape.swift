/// The shape of a tree of `count` leaves, 0 or more, with odd promotion: which nodes exist, how long
/// an audit path is, which hash tiles hold the nodes. Pure arithmetic.
public struct TreeShape: Sendable, Hashable {
  public let count: Int64

  /// Requires `count >= 0`.
  public init(count: Int64) {
    precondition(count >= 0, "MerkleTree: negative leaf count")
    self.count = count
  }

  /// The number of siblings on the audit path of leaf `index`. Requires `0 <= index < count`.
  public func auditPathLength(index: Int64) -> Int {
    var length = 0
    walk(index: index) { _ in length += 1 }
    return length
  }

  /// Visits the siblings of leaf `index` from the leaf to the root, as (binary level, index) of the
  /// sibling and the side on which it stands. Requires `0 <= index < count`.
  func walk(index: Int64, _ visit: (Sibling) -> Void) {
    precondition(index >= 0 && index < count, "MerkleTree: leaf index out of range")
    var (index, width, level) = (index, count, 0)
    while width > 1 {
      let sibling = index ^ 1
      if sibling < width {
        visit(Sibling(level: level, index: sibling, isLeft: sibling < index))
      }
      index >>= 1
      width = width / 2 + width % 2
      level += 1
    }
  }

  struct Sibling {
    var level: Int
    var index: Int64
    var isLeft: Bool
  }

  /// The number of binary levels above the leaves: the root is node (height, 0).
  public var height: Int {
    count <= 1 ? 0 : Int64.bitWidth - (count - 1).leadingZeroBitCount
  }

  /// One past the last leaf below the node (binary level, index), which has to exist.
  func end(level: Int, index: Int64) -> Int64 {
    isFull(level: level, index: index) ? (index + 1) << level : count
  }

  /// Whether the node (binary level, index) stands over 2^level leaves.
  func isFull(level: Int, index: Int64) -> Bool { index < count >> level }

  // MARK: Tiles

  /// How many nodes tile level `level` holds: the roots of full subtrees of 256^level leaves.
  public func tileLevelWidth(_ level: Int) -> Int64 {
    level * Tile.height >= Int64.bitWidth ? 0 : count >> (level * Tile.height)
  }

  /// The number of tile levels that hold at least one node.
  public var tileLevels: Int {
    var level = 0
    while tileLevelWidth(level) > 0 { level += 1 }
    return level
  }

  /// The tile `index` of `level` as this tree has it, full or partial; nil if it has none.
  public func tile(level: Int, index: Int64) -> TileAddress? {
    guard index >= 0, index < tileCount(level: level) else { return nil }
    let rest = tileLevelWidth(level) - index * Int64(Tile.width)
    return TileAddress(level: level, index: index, width: Int(min(rest, Int64(Tile.width))))
  }

  /// The number of tiles on `level`.
  public func tileCount(level: Int) -> Int64 {
    let width = tileLevelWidth(level)
    return width / Int64(Tile.width) + (width % Int64(Tile.width) == 0 ? 0 : 1)
  }

  /// The partial tiles, lowest level first: together they fold to the root.
  public var edge: [TileAddress] {
    (0..<tileLevels).compactMap { level in
      let last = tileCount(level: level) - 1
      return tile(level: level, index: last).flatMap { $0.isFull ? nil : $0 }
    }
  }
}
