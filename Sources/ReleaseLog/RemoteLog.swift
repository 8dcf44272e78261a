import Crypto
import Failure
import MerkleTree
import SignedNote

/// Reads a release log that somebody serves: suspect tiles and bundles, to be authenticated against a
/// checkpoint.
package struct RemoteLog {
  /// Fetches the file at a path below the base, of at most so many bytes; `http-status` with 404 where
  /// there is none.
  package typealias Fetch = (String, Int) throws(FetchFailure) -> [UInt8]

  private let fetch: Fetch
  private let fallsBack: Bool

  /// - Parameter fallsBack: whether the full tile or bundle is asked for where a partial one is gone.
  package init(fallsBack: Bool = true, fetch: @escaping Fetch) {
    (self.fallsBack, self.fetch) = (fallsBack, fetch)
  }

  /// A hash tile of the log. Logs grow: where a partial tile is gone, the full one is asked for once,
  /// and its first hashes are taken.
  package func tile(_ address: TileAddress) throws(FetchFailure) -> SuspectTile {
    do throws(FetchFailure) {
      return try SuspectTile(address, try fetch(address.path, address.byteCount))
    } catch {
      guard fallsBack, error.httpStatus == 404, !address.isFull else { throw error }
      let full = TileAddress(level: address.level, index: address.index)
      let bytes = try fetch(full.path, full.byteCount)
      _ = try SuspectTile(full, bytes)
      return try SuspectTile(address, Array(bytes.prefix(address.byteCount)))
    }
  }

  /// The entries of bundle `index`, the first `width` of them.
  package func bundle(index: Int64, width: Int) throws(FetchFailure) -> EntryBundle {
    func get(_ width: Int) throws(FetchFailure) -> [UInt8] {
      try fetch(
        TileAddress.entriesPath(index: index, width: width),
        EntryBundle.maximumByteCount(width: width))
    }
    do throws(FetchFailure) {
      return try EntryBundle(try get(width), width: width)
    } catch {
      guard fallsBack, error.httpStatus == 404, width < Tile.width else { throw error }
      return try EntryBundle(try get(Tile.width), width: width)
    }
  }

  /// The entries of bundle `index`, each of which is a leaf of the tree.
  ///
  /// - Throws: `tile-invalid`.
  package func entries(
    _ index: Int64, of tree: inout AuthenticatedTree
  ) throws(FetchFailure) -> EntryBundle {
    let first = index * Int64(Tile.width)
    let range = first..<min(tree.shape.count, first + Int64(Tile.width))
    try tree.gather(range) { address throws(FetchFailure) in try tile(address) }
    let bundle = try bundle(index: index, width: range.count)
    guard let leaves = tree.provenLeaves(range) else {
      preconditionFailure("ReleaseLog: gathered leaves are proven")
    }
    var hasher = TreeHasher()
    for (offset, entry) in bundle.entries.enumerated() {
      guard hasher.leaf(entry) == leaves[first + Int64(offset)] else {
        throw FetchFailure(
          .tileInvalid,
          "\(TileAddress.entriesPath(index: index, width: range.count)) does not hold the entries "
            + "of the log")
      }
    }
    return bundle
  }
}
