import Failure
import MerkleTree

/// Brings tiles to the authenticated tree in the order in which they prove each other: from disk
/// where they were kept, else from a source. Pure but for `stored` and `keep`.
///
/// The tiles of the right edge prove each other only together, and which of them is wrong cannot be
/// told. So they are one unit: one source is asked for all of them, and an attempt that fails is that
/// source's one failure. What another source had sent before is asked for again.
struct TileLoader: ~Copyable {
  private(set) var tree: AuthenticatedTree
  private let stored: (TileAddress) -> SuspectTile?
  private let keep: (TileAddress, [UInt8]) -> Void

  /// Asked for and not yet authenticated, with where it stands.
  private var wanted: [TileAddress: State] = [:]
  /// Tiles of level 0 that were authenticated since ``takeLearned()``.
  private var learned: [TileAddress] = []
  /// Full tiles to be requested, from `head` on, in the order in which they were asked for.
  private var queue: [TileAddress] = []
  private var head = 0
  private var running = 0
  /// Whether the source that is asked for the edge has failed since it was asked.
  private var edgeHasFailed = false

  private enum State {
    case queued
    case requested(SourceID)
    case suspect(SuspectTile, [UInt8], from: Sender)
  }

  private enum Sender: Equatable {
    case disk
    case source(SourceID)
  }

  init(
    tree: consuming AuthenticatedTree, stored: @escaping (TileAddress) -> SuspectTile?,
    keep: @escaping (TileAddress, [UInt8]) -> Void
  ) {
    self.tree = tree
    self.stored = stored
    self.keep = keep
  }

  /// How many requests for tiles run at once; those for the edge begin together, and may be more.
  static let parallelRequests = 8

  mutating func provenLeaves(_ blocks: Range<Int64>) -> ProvenLeaves? {
    tree.provenLeaves(blocks)
  }

  /// Asks for what is missing to prove those blocks. What is on disk is taken at once.
  mutating func want(_ blocks: Range<Int64>) {
    var found: [TileAddress] = []
    for tile in tree.missingTiles(for: blocks) where wanted[tile] == nil {
      if let suspect = stored(tile) {
        wanted[tile] = .suspect(suspect, [], from: .disk)
        found.append(tile)
      } else {
        wanted[tile] = .queued
        if tile.isFull { queue.append(tile) }
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

  /// The tiles to request now, and of whom.
  ///
  /// - Parameter source: whom to ask for a tile now; nil if nobody can be asked.
  mutating func nextRequests(
    source: (TileAddress) -> SourceID?
  ) -> [(tile: TileAddress, source: SourceID)] {
    // The edge first: all others wait for it.
    var requests = nextEdgeRequests(source: source)
    var held: [TileAddress] = []
    while running + held.count < Self.parallelRequests, head < queue.count {
      let tile = queue[head]
      head += 1
      guard case .queued? = wanted[tile] else { continue }
      guard let source = source(tile) else {
        held.append(tile)
        continue
      }
      requests.append(request(tile, source))
    }
    queue.insert(contentsOf: held, at: head)
    if head > queue.count / 2 {
      queue.removeFirst(head)
      head = 0
    }
    return requests
  }

  /// Begins an attempt at the edge once nothing is heard of the one before any more.
  private mutating func nextEdgeRequests(
    source: (TileAddress) -> SourceID?
  ) -> [(tile: TileAddress, source: SourceID)] {
    let edge = tree.shape.edge
    var isWanted = false
    for tile in edge {
      switch wanted[tile] {
      case .requested?: return []
      case .queued?: isWanted = true
      case .suspect?, nil: break
      }
    }
    guard isWanted, running < Self.parallelRequests, let source = source(edge[0]) else { return [] }
    edgeHasFailed = false
    var requests: [(TileAddress, SourceID)] = []
    for tile in edge {
      if case .suspect(_, _, let sender)? = wanted[tile],
        sender == .disk || sender == .source(source)
      {
        continue
      }
      requests.append(request(tile, source))
    }
    return requests
  }

  private mutating func request(
    _ tile: TileAddress, _ source: SourceID
  ) -> (tile: TileAddress, source: SourceID) {
    wanted[tile] = .requested(source)
    running += 1
    return (tile, source)
  }

  /// A tile came from the source that was asked for it.
  ///
  /// - Returns: what is wrong with which tile, to be counted against the source.
  mutating func received(_ tile: TileAddress, _ bytes: [UInt8]) -> [(TileAddress, FetchFailure)] {
    guard case .requested(let source)? = wanted[tile] else { return [] }
    do throws(FetchFailure) {
      wanted[tile] = .suspect(try SuspectTile(tile, bytes), bytes, from: .source(source))
    } catch {
      return failed(tile, error)
    }
    running -= 1
    return authenticate([tile])
  }

  /// A request came to nothing: the tile is asked for again.
  ///
  /// - Returns: what is to be counted against the source: for the edge, the first failure of an
  ///   attempt.
  mutating func failed(
    _ tile: TileAddress, _ failure: FetchFailure
  ) -> [(TileAddress, FetchFailure)] {
    guard case .requested? = wanted[tile] else { return [] }
    running -= 1
    askAgain(tile)
    guard !tile.isFull else { return [(tile, failure)] }
    defer { edgeHasFailed = true }
    return edgeHasFailed ? [] : [(tile, failure)]
  }

  /// Before all others: they may wait for it.
  private mutating func askAgain(_ tile: TileAddress) {
    wanted[tile] = .queued
    if tile.isFull { queue.insert(tile, at: head) }
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
      guard tile.isFull, case .suspect(let suspect, let bytes, let sender)? = wanted[tile],
        tree.isReady(for: tile)
      else { continue }
      do throws(FetchFailure) {
        try tree.authenticate(suspect)
        finish(tile, sender == .disk ? nil : bytes)
        if tile.level > 0 {
          rest += wanted.keys.filter {
            $0.level == tile.level - 1 && $0.index / Int64(Tile.width) == tile.index
          }
        }
      } catch {
        askAgain(tile)
        if sender != .disk { failures.append((tile, error)) }
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
      guard case .suspect(let suspect, let bytes, let sender)? = wanted[tile] else { return nil }
      tiles.append(suspect)
      if sender != .disk { fresh.append((tile, bytes)) }
    }
    do throws(FetchFailure) {
      try tree.authenticate(edge: tiles)
      for tile in edge { finish(tile, nil) }
      for (tile, bytes) in fresh { keep(tile, bytes) }
      return nil
    } catch {
      // All are fetched again, and from one source. If a part was on disk, that may have been wrong.
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
