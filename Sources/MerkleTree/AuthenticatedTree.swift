import Crypto
import Failure

/// Takes suspect tiles of a tree whose count and root are trusted, and gives proven hashes.
///
/// Tiles come top down: first the whole right edge, which folds to the root, then every full tile
/// against its slot in its parent, without exception and wherever it came from (network or disk).
/// Keeps the edge, every tile above level 0 (32 bytes for each 256 leaves) and up to `capacity` full
/// tiles of level 0.
public struct AuthenticatedTree: ~Copyable {
  public let shape: TreeShape
  public let root: Digest
  private var hasher = TreeHasher()
  /// The tiles above level 0, and the edge tile of level 0.
  private var kept: [TileAddress: [Digest]] = [:]
  /// The full tiles of level 0, by index.
  private var leaves: [Int64: LeafTile] = [:]
  private var clock: UInt64 = 0
  private let capacity: Int

  private struct LeafTile {
    var hashes: [Digest]
    var lastUse: UInt64
  }

  /// - Parameter capacity: how many full tiles of level 0 to keep, 8 KiB each; at least 1.
  public init(count: Int64, root: Digest, capacity: Int = 1_024) throws(FetchFailure) {
    guard count > 0 || root == .empty else {
      throw FetchFailure(.tileInvalid, "an empty tree cannot have the root \(root)")
    }
    shape = TreeShape(count: count)
    self.root = root
    self.capacity = max(1, capacity)
  }

  /// The tiles that have to be authenticated before those leaves are proven, parents first. The
  /// partial ones among them are the whole edge and are authenticated together.
  ///
  /// Authenticating may push out full tiles of level 0 that were there: ask again until none is
  /// missing. Within `capacity` tiles of level 0 that ends.
  public func missingTiles(for range: Range<Int64>) -> [TileAddress] {
    guard !range.isEmpty else { return [] }
    var missing = shape.edge.filter { hashes(of: $0) == nil }
    for level in (0..<shape.tileLevels).reversed() {
      let shift = Int64((level + 1) * Tile.height)
      for index in (range.lowerBound >> shift)...((range.upperBound - 1) >> shift) {
        guard let tile = shape.tile(level: level, index: index), tile.isFull,
          hashes(of: tile) == nil
        else { continue }
        missing.append(tile)
      }
    }
    return missing
  }

  /// Authenticates the right edge: exactly the tiles of `shape.edge`.
  /// - Throws: `tile-invalid`; which of the tiles is wrong cannot be told.
  public mutating func authenticate(edge tiles: [SuspectTile]) throws(FetchFailure) {
    precondition(tiles.map(\.address) == shape.edge, "MerkleTree: not the edge of this tree")
    var levels = [[Digest]](repeating: [], count: shape.tileLevels)
    for tile in tiles { levels[tile.address.level] = tile.hashes }
    guard hasher.foldEdge(levels) ?? .empty == root else {
      throw FetchFailure(
        .tileInvalid, "the tiles on the right edge of \(shape.count) leaves do not lead to \(root)")
    }
    for tile in tiles { keep(tile) }
  }

  /// Authenticates a full tile against its slot in its parent, which has to be authenticated.
  /// - Throws: `tile-invalid`.
  public mutating func authenticate(_ tile: SuspectTile) throws(FetchFailure) {
    precondition(
      shape.tile(level: tile.address.level, index: tile.address.index) == tile.address
        && tile.address.isFull, "MerkleTree: no full tile of this tree")
    let parent = shape.tile(
      level: tile.address.level + 1, index: tile.address.index / Int64(Tile.width))
    guard let parent, let slots = hashes(of: parent) else {
      preconditionFailure("MerkleTree: \(tile.address.path) came before its parent")
    }
    let slot = Int(tile.address.index % Int64(Tile.width))
    #if FETCHRES_MUTANTS
      if Mutant.skipTile.isChosen, tile.address.level == 0, tile.address.index == 1 {
        return keep(tile)
      }
    #endif
    guard hasher.fold(tile.hashes) == slots[slot] else {
      throw FetchFailure(
        .tileInvalid, "\(tile.address.path) does not hash to its slot in \(parent.path)")
    }
    keep(tile)
  }

  /// The proven hashes of those leaves; nil while `missingTiles(for:)` has tiles of level 0 with them.
  public mutating func provenLeaves(_ range: Range<Int64>) -> ProvenLeaves? {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= shape.count, "MerkleTree: no such leaves")
    var proven: [Digest] = []
    proven.reserveCapacity(range.count)
    clock += 1
    var next = range.lowerBound
    while next < range.upperBound {
      guard let tile = shape.tile(level: 0, index: next / Int64(Tile.width)),
        let slots = hashes(of: tile)
      else { return nil }
      let first = Int(next % Int64(Tile.width))
      let part = slots[first...].prefix(Int(range.upperBound - next))
      proven += part
      leaves[tile.index]?.lastUse = clock
      next += Int64(part.count)
    }
    return ProvenLeaves(first: range.lowerBound, hashes: proven)
  }

  /// Whether everything is there that `authenticate(_:)` needs for this full tile.
  public func isReady(for tile: TileAddress) -> Bool {
    shape.tile(level: tile.level + 1, index: tile.index / Int64(Tile.width))
      .map { hashes(of: $0) != nil } == true
  }

  /// The node (binary level, index). Requires that the tiles it is computed from are authenticated:
  /// for any node `missingTiles` of the leaves below it, for a full one only the tile it stands in.
  public mutating func node(level: Int, index: Int64) -> Digest {
    if shape.isFull(level: level, index: index) {
      let tileLevel = level / Tile.height
      let width = 1 << (level % Tile.height)
      let first = index << (level % Tile.height)
      let tile = shape.tile(level: tileLevel, index: first / Int64(Tile.width))
      guard let tile, let slots = hashes(of: tile) else {
        preconditionFailure("MerkleTree: node (\(level), \(index)) is not proven")
      }
      let slot = Int(first % Int64(Tile.width))
      return hasher.fold(Array(slots[slot..<slot + width]))
    }
    let right = 2 * index + 1
    let left = node(level: level - 1, index: right - 1)
    guard right << (level - 1) < shape.count else { return left }
    return hasher.node(left, node(level: level - 1, index: right))
  }

  /// A builder that continues this tree. Requires an authenticated edge.
  public func builder() -> TreeBuilder {
    var edge = [[Digest]](repeating: [], count: shape.tileLevels)
    for tile in shape.edge {
      guard let slots = hashes(of: tile) else {
        preconditionFailure("MerkleTree: the edge is not proven")
      }
      edge[tile.level] = slots
    }
    return TreeBuilder(count: shape.count, edge: edge)
  }

  private func isEvictable(_ tile: TileAddress) -> Bool { tile.level == 0 && tile.isFull }

  private func hashes(of tile: TileAddress) -> [Digest]? {
    isEvictable(tile) ? leaves[tile.index]?.hashes : kept[tile]
  }

  private mutating func keep(_ tile: SuspectTile) {
    guard isEvictable(tile.address) else {
      kept[tile.address] = tile.hashes
      return
    }
    clock += 1
    if leaves.count >= capacity, leaves[tile.address.index] == nil,
      let oldest = leaves.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      leaves[oldest.key] = nil
    }
    leaves[tile.address.index] = LeafTile(hashes: tile.hashes, lastUse: clock)
  }
}

/// Leaf hashes that an authenticated tree vouches for.
public struct ProvenLeaves: Sendable {
  public let first: Int64
  let hashes: [Digest]

  /// The proven hash of leaf `index`; nil outside the range.
  public subscript(index: Int64) -> Digest? {
    let offset = index - first
    return offset >= 0 && offset < hashes.count ? hashes[Int(offset)] : nil
  }
}
