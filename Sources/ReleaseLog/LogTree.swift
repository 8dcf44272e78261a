import Crypto
import Failure
import MerkleTree
import SignedNote

/// The tree behind a signed head, proven with tiles that anybody may serve.
final class LogTree {
  let head: LogHead
  /// The partial tiles, once they are authenticated: what proves most of what is asked later.
  private(set) var edge: [LogState.EdgeTile] = []
  private var tree: AuthenticatedTree

  /// - Parameter edge: partial tiles that were kept; as suspect as any, and no use if they are wrong.
  init(_ head: LogHead, edge: [LogState.EdgeTile] = []) throws(FetchFailure) {
    tree = try AuthenticatedTree(count: head.size, root: head.root)
    self.head = head
    let kept = edge.compactMap { try? SuspectTile($0.address, $0.bytes) }
    guard !kept.isEmpty, kept.map(\.address) == tree.shape.edge,
      (try? tree.authenticate(edge: kept)) != nil
    else { return }
    self.edge = edge
  }

  /// Proves those leaves, those behind the end of the log left out: asks a source for every tile that
  /// is missing at the same time. What it proves stays proven, also if it fails.
  ///
  /// - Throws: `tile-invalid`, and what the source says.
  func prove(_ leaves: Set<Int64>, by source: LogSource) throws(FetchFailure) {
    try prove(leaves, by: [source], patience: 0) { _, _ in }
  }

  /// Proves them with tiles of the first source that has good ones, as ``LogSource/race`` asks them.
  func prove(
    _ leaves: Set<Int64>, by sources: [LogSource], patience: Double,
    blame: (Int, FetchFailure) -> Void
  ) throws(FetchFailure) {
    var asked = [[TileAddress]](repeating: [], count: sources.count)
    try LogSource.race(sources, patience: patience, blame: blame) { number in
      asked[number] = missingTiles(leaves)
      return asked[number].map(Self.file)
    } take: { number, results throws(FetchFailure) in
      do throws(FetchFailure) {
        try authenticate(
          zip(asked[number], results).map { address, result in Self.tile(address, result) })
      } catch { throw error.from(sources[number].name) }
    }
  }

  /// The tiles that those leaves need, in the order in which they are authenticated: all of the edge or
  /// nothing of it first, then parents before their children.
  private func missingTiles(_ leaves: Set<Int64>) -> [TileAddress] {
    var missing: [TileAddress] = []
    for leaf in leaves.sorted() where leaf >= 0 && leaf < head.size {
      for tile in tree.missingTiles(for: leaf..<leaf + 1) where !missing.contains(tile) {
        missing.append(tile)
      }
    }
    return missing.filter { !$0.isFull }
      + missing.filter(\.isFull).sorted { $0.level > $1.level }
  }

  /// What to ask for. Of a tile that has grown the first hashes are taken.
  private static func file(_ address: TileAddress) -> LogSource.LogFile {
    let full = TileAddress(level: address.level, index: address.index)
    return LogSource.LogFile(
      ask: LogSource.Ask(address.path, limit: address.byteCount),
      full: address.isFull ? nil : LogSource.Ask(full.path, limit: full.byteCount))
  }

  private static func tile(
    _ address: TileAddress, _ result: LogSource.Result
  ) -> Result<SuspectTile, FetchFailure> {
    do throws(FetchFailure) {
      let bytes = try result.get().bytes
      let full = TileAddress(level: address.level, index: address.index)
      let hasGrown = bytes.count == full.byteCount
      return .success(
        try SuspectTile(address, hasGrown ? Array(bytes.prefix(address.byteCount)) : bytes))
    } catch { return .failure(error) }
  }

  private func authenticate(
    _ tiles: [Result<SuspectTile, FetchFailure>]
  ) throws(FetchFailure) {
    var edge: [SuspectTile] = []
    for tile in tiles {
      let tile = try tile.get()
      guard !tile.address.isFull else {
        try tree.authenticate(tile)
        continue
      }
      edge.append(tile)
      guard edge.count == tree.shape.edge.count else { continue }
      try tree.authenticate(edge: edge)
      self.edge = edge.map { LogState.EdgeTile(address: $0.address, bytes: $0.bytes) }
    }
  }

  /// Whether the entry at `index` is this note. Requires that it is proven.
  func holds(_ note: [UInt8], at index: Int64) -> Bool {
    var hasher = TreeHasher()
    return tree.provenLeaves(index..<index + 1)?[index] == hasher.leaf(note)
  }

  /// Whether the last leaf is proven, and with it the edge.
  func isProven(_ leaf: Int64) -> Bool {
    leaf >= 0 && leaf < head.size && tree.missingTiles(for: leaf..<leaf + 1).isEmpty
  }

  /// Compares with a smaller head, or one of the same size. Requires that the last leaves of both are
  /// proven here.
  ///
  /// - Returns: the proof that they are a fork; nil if the other is a prefix of this.
  func compare(_ other: LogHead) -> Evidence? {
    guard other.size > 0, !other.isSame(as: head) else { return nil }
    guard other.size < head.size else {
      return try? Evidence(smaller: other, larger: head, hashes: [])
    }
    return try? Evidence(
      smaller: other, larger: head, hashes: tree.impliedProof(from: other.size))
  }

  /// The entries of the bundle that holds entry `index`, verified, from the first source that has them.
  /// Requires that the entry is proven.
  func bundle(
    around index: Int64, by sources: [LogSource], patience: Double,
    blame: (Int, FetchFailure) -> Void
  ) throws(FetchFailure) -> EntryBundle {
    let number = index / Int64(Tile.width)
    let width = Int(min(head.size - number * Int64(Tile.width), Int64(Tile.width)))
    func ask(_ width: Int) -> LogSource.Ask {
      LogSource.Ask(
        TileAddress.entriesPath(index: number, width: width),
        limit: EntryBundle.maximumByteCount(width: width))
    }
    let file = LogSource.LogFile(ask: ask(width), full: width < Tile.width ? ask(Tile.width) : nil)
    return try LogSource.race(sources, patience: patience, blame: blame) { _ in
      [file]
    } take: { source, results throws(FetchFailure) in
      do throws(FetchFailure) {
        let log = RemoteLog(fallsBack: false) { _, _ throws(FetchFailure) in
          try results[0].get().bytes
        }
        return try log.entries(number, of: &tree)
      } catch { throw error.from(sources[source].name) }
    }
  }
}
