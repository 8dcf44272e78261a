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
    var missing: [TileAddress] = []
    for leaf in leaves.sorted() where leaf >= 0 && leaf < head.size {
      for tile in tree.missingTiles(for: leaf..<leaf + 1) where !missing.contains(tile) {
        missing.append(tile)
      }
    }
    let partial = missing.filter { !$0.isFull }
    let full = missing.filter(\.isFull).sorted { $0.level > $1.level }
    let tiles = Self.fetch(partial + full, from: source)
    func named<Value>(
      _ body: () throws(FetchFailure) -> Value
    ) throws(FetchFailure) -> Value {
      do throws(FetchFailure) { return try body() } catch { throw error.from(source.name) }
    }
    if !partial.isEmpty {
      var edge: [SuspectTile] = []
      for tile in tiles.prefix(partial.count) { edge.append(try tile.get()) }
      try named { () throws(FetchFailure) in try tree.authenticate(edge: edge) }
      self.edge = edge.map { LogState.EdgeTile(address: $0.address, bytes: $0.bytes) }
    }
    for tile in tiles.dropFirst(partial.count) {
      let tile = try tile.get()
      try named { () throws(FetchFailure) in try tree.authenticate(tile) }
    }
  }

  /// Asks for tiles at the same time. Logs grow: where a partial one is gone, the full one is asked
  /// for once, and its first hashes are taken.
  private static func fetch(
    _ addresses: [TileAddress], from source: LogSource
  ) -> [Result<SuspectTile, FetchFailure>] {
    func get(_ addresses: [TileAddress]) -> [LogSource.Result] {
      source.get(addresses.map { LogSource.Ask($0.path, limit: $0.byteCount) })
    }
    var results = get(addresses)
    let grown = addresses.indices.filter { index in
      guard case .failure(let failure) = results[index] else { return false }
      return failure.httpStatus == 404 && !addresses[index].isFull
    }
    if !grown.isEmpty {
      let full = grown.map { TileAddress(level: addresses[$0].level, index: addresses[$0].index) }
      for (index, result) in zip(grown, get(full)) {
        guard case .success(let answer) = result else { continue }
        results[index] = .success(
          answer.bytes.count == full[0].byteCount
            ? LogSource.Answer(Array(answer.bytes.prefix(addresses[index].byteCount))) : answer)
      }
    }
    return zip(addresses, results).map { address, result in
      do throws(FetchFailure) {
        return .success(try SuspectTile(address, try result.get().bytes))
      } catch { return .failure(error.from(source.name)) }
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

  /// The entries of the bundle that holds entry `index`, verified.
  func bundle(around index: Int64, by source: LogSource) throws(FetchFailure) -> EntryBundle {
    do throws(FetchFailure) {
      let log = RemoteLog { path, limit throws(FetchFailure) in
        try source.get([LogSource.Ask(path, limit: limit)])[0].get().bytes
      }
      return try log.entries(index / Int64(Tile.width), of: &tree)
    } catch { throw error.from(source.name) }
  }
}
