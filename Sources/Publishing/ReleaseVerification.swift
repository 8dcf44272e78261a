import Failure
import Manifest
import MerkleTree
import Storage
import System

/// Recomputes the tree of one release from its data on disk, and compares root and every tile.
struct ReleaseVerification {
  let site: SiteDirectory

  /// - Returns: whether the data are there; if they are, they are what was signed.
  /// - Throws: the first difference.
  func run(_ manifest: Manifest) throws(FetchFailure) -> Bool {
    let path = SitePaths.file(manifest.version, manifest.file)
    guard try site.has(path) else { return false }
    let file = try doing("cannot read \(Path.join(site.path, path))") { () throws(SystemError) in
      guard let (directory, name) = try site.locate(path) else {
        throw SystemError(SystemError.notFound, "open", path: path)
      }
      return try directory.openFile(name, .read)
    }
    let size = try doing("cannot look at \(path)") { () throws(SystemError) in
      try file.status().size
    }
    guard size == manifest.layout.size else {
      throw FetchFailure(
        .sizeMismatch, "\(path) has \(size) bytes instead of \(manifest.layout.size)")
    }
    var builder = TreeBuilder()
    // Of data and tiles that contradict each other, the signed root says which are wrong.
    var wrongTile: FetchFailure?
    func compare(_ tile: TileAddress, _ bytes: [UInt8]) throws(FetchFailure) {
      guard wrongTile == nil else { return }
      do throws(FetchFailure) {
        try site.compare(SitePaths.tile(manifest.version, tile), bytes)
      } catch {
        guard error.category == .tileInvalid else { throw error }
        wrongTile = error
      }
    }
    try BlockHasher(layout: manifest.layout, source: file).run { leaf throws(FetchFailure) in
      try builder.append(leaf) { tile, bytes throws(FetchFailure) in try compare(tile, bytes) }
    }
    let root = try builder.finish { tile, bytes throws(FetchFailure) in try compare(tile, bytes) }
    guard root == manifest.root else {
      throw FetchFailure(
        .blockMismatch, "\(path) hashes to \(root) instead of \(manifest.root)")
    }
    if let wrongTile { throw wrongTile }
    return true
  }
}
