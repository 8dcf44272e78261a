import Failure
import MerkleTree

/// Brings tiles to the authenticated tree in the order in which they prove each other: from disk
/// where they were kept, else from a source. Pure but for `stored` and `keep`.
struct TileLoader: ~Copyable {
  private(set) var tree: AuthenticatedTree
  private let stored: (TileAddress) -> SuspectTile?
  private let keep: (TileAddress, [UInt8]) -> Void

  /// Asked for and not yet authenticated, with where it stands.
  private var wanted: [TileAddress: State] = [:]
  /// Tiles of level 0 that were authenticated since ``takeLearned()``.
  private var learned: [TileAddress] = []
  /// To be requested, from `head` on, in the order in which they were asked for.
  private var queue: [TileAddress] = []
  private var head = 0
  private var running = 0

  private enum State {
    case queued
    case requested
    case suspect(SuspectTile, [UInt8], isStored: Bool)
  }

  init(
    tree: consuming AuthenticatedTree, stored: @escaping (TileAddress) -> SuspectTile?,
    keep: @escaping (TileAddress, [UInt8]) -> Void
  ) {
    self.tree = tree
    self.stored = stored
    self.keep = keep
  }

  /// How many requests for tiles run at once.
  static let parallelRequests = 8

  mutating func provenLeaves(_ blocks: Range<Int64>) -> ProvenLeaves? {
    tree.provenLeaves(blocks)
  }

  /// Asks for what is missing to prove those blocks. What is on disk is taken at once.
  mutating func want(_ blocks: Range<Int64>) {
    var found: [TileAddress] = []
    for tile in tree.missingTiles(for: blocks) where wanted[tile] == nil {
      if let suspect = stored(tile) {
        wanted[tile] = .suspect(suspect, [], isStored: true)
        found.append(tile)
      } else {
        wanted[tile] = .queued
        queue.append(tile)
      }
    }
    // What was kept on disk and is wrong is simply fetched.
    if !found.isEmpty { _ = authenticate(found) }
  }

  var isIdle: Bool { wanted.isEmpty }

  /// How many tiles are asked for and not yet there.
  var outstanding: Int { wanted.count }

  /// The leaves that were proven since the last call.
  mutating func takeLearned() -> [Range<Int64>] {
    defer { learned = [] }
    return learned.map { tile in
      let first = tile.index * Int64(Tile.width)
      return first..<first + Int64(tile.width)
    }
  }

  /// The tiles to request now.
  mutating func nextRequests() -> [TileAddress] {
    var requests: [TileAddress] = []
    while running < Self.parallelRequests, head < queue.count {
      let tile = queue[head]
      head += 1
      guard case .queued? = wanted[tile] else { continue }
      wanted[tile] = .requested
      running += 1
      requests.append(tile)
    }
    if head > queue.count / 2 {
      queue.removeFirst(head)
      head = 0
    }
    return requests
  }

  /// A tile came from a source.
  /// - Returns: what is wrong with which tile, to be counted against the source.
  mutating func received(_ tile: TileAddress, _ bytes: [UInt8]) -> [(TileAddress, FetchFailure)] {
    guard case .requested? = wanted[tile] else { return [] }
    running -= 1
    do throws(FetchFailure) {
      wanted[tile] = .suspect(try SuspectTile(tile, bytes), bytes, isStored: false)
      return authenticate([tile])
    } catch {
      askAgain(tile)
      return [(tile, error)]
    }
  }

  /// A request came to nothing: the tile is asked for again.
  mutating func failed(_ tile: TileAddress) {
    guard case .requested? = wanted[tile] else { return }
    running -= 1
    askAgain(tile)
  }

  /// Before all others: they may wait for it.
  private mutating func askAgain(_ tile: TileAddress) {
    wanted[tile] = .queued
    queue.insert(tile, at: head)
  }

  /// Takes in those that came, and all that waited for one of them.
  private mutating func authenticate(_ tiles: [TileAddress]) -> [(TileAddress, FetchFailure)] {
    var failures: [(TileAddress, FetchFailure)] = []
    var rest = tiles
    if tiles.contains(where: { !$0.isFull }) {
      if let failure = authenticateEdge() { failures.append(failure) }
      rest = Array(wanted.keys)
    }
    while let tile = rest.popLast() {
      guard tile.isFull, case .suspect(let suspect, let bytes, let isStored)? = wanted[tile],
        tree.isReady(for: tile)
      else { continue }
      do throws(FetchFailure) {
        try tree.authenticate(suspect)
        finish(tile, isStored ? nil : bytes)
        if tile.level > 0 {
          rest += wanted.keys.filter {
            $0.level == tile.level - 1 && $0.index / Int64(Tile.width) == tile.index
          }
        }
      } catch {
        askAgain(tile)
        if !isStored { failures.append((tile, error)) }
      }
    }
    return failures
  }

  private mutating func authenticateEdge() -> (TileAddress, FetchFailure)? {
    let edge = tree.shape.edge
    guard let first = edge.first, wanted[first] != nil else { return nil }
    var tiles: [SuspectTile] = []
    var fresh: [(TileAddress, [UInt8])] = []
    for tile in edge {
      guard case .suspect(let suspect, let bytes, let isStored)? = wanted[tile] else { return nil }
      tiles.append(suspect)
      if !isStored { fresh.append((tile, bytes)) }
    }
    do throws(FetchFailure) {
      try tree.authenticate(edge: tiles)
      for tile in edge { finish(tile, nil) }
      for (tile, bytes) in fresh { keep(tile, bytes) }
      return nil
    } catch {
      // Which one is wrong cannot be told: all are fetched again. A source is blamed only for what
      // came from it alone.
      for tile in edge { askAgain(tile) }
      return fresh.count < edge.count ? nil : (first, error)
    }
  }

  private mutating func finish(_ tile: TileAddress, _ bytes: [UInt8]?) {
    wanted[tile] = nil
    if tile.level == 0 { learned.append(tile) }
    if let bytes { keep(tile, bytes) }
  }
}
