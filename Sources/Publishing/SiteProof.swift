import Crypto
import Failure
import Manifest
import MerkleTree
import Storage

/// The inclusion proof of one block, made from the tiles of a site on disk, which are authenticated on
/// the way.
package struct SiteProof {
  package let count: Int64
  package let root: Digest
  package let leaf: Digest
  package let siblings: [Digest]

  /// - Throws: `usage` for a version or an index that the site does not have, `tile-invalid`.
  package init(
    site path: String, version: String, index: Int64,
    _ fileSystem: any FileSystem = RealFileSystem()
  ) throws(FetchFailure) {
    let site = try SiteDirectory(path, fileSystem, makes: false)
    guard Manifest.isVersion(version),
      let note = try site.read(
        SitePaths.releaseManifest(version), limit: Manifest.maximumByteCount)
    else { throw FetchFailure(.usage, "the site \(path) has no version \(version)") }
    let manifest = try Manifest(selfSigned: note)
    count = manifest.layout.count
    root = manifest.root
    guard index >= 0, index < count else {
      throw FetchFailure(.usage, "version \(version) has \(count) blocks, so no block \(index)")
    }
    var tree = try AuthenticatedTree(count: count, root: root)
    try tree.gather(index..<index + 1) { tile throws(FetchFailure) in
      try site.presentTile(tile, of: version)
    }
    leaf = tree.node(level: 0, index: index)
    siblings = InclusionProof.make(index: index, shape: tree.shape) { level, index in
      tree.node(level: level, index: index)
    }
  }
}
