import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote
import Storage

/// A site on disk, opened to compare it with what is served.
package struct PublishedSite {
  private let site: SiteDirectory
  package let manifest: Manifest
  package let manifestNote: [UInt8]
  package let checkpoint: Checkpoint
  /// The keys that may have signed what is live: that of the newest release and of the one before.
  package let keys: [NoteKey]
  /// Whether the last publish made a release directory, and did not only refresh one.
  package let isNewVersion: Bool

  package init(
    _ path: String, _ fileSystem: any FileSystem = RealFileSystem()
  ) throws(FetchFailure) {
    site = try SiteDirectory(path, fileSystem, makes: false)
    guard let note = try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount),
      let head = try site.read(SitePaths.checkpoint, limit: Checkpoint.maximumByteCount)
    else { throw FetchFailure(.usage, "nothing is published in \(path)") }
    manifest = try Manifest(selfSigned: note)
    manifestNote = note
    checkpoint = try Checkpoint(try SignedNote(head).verify([manifest.key]))
    var keys = [manifest.key]
    if checkpoint.size > 1 {
      let before = try site.logEntry(checkpoint.size - 2, of: checkpoint.size)
      keys.append(try Manifest(selfSigned: before).key)
    }
    self.keys = keys
    let order = try? UploadOrder(site: path, fileSystem)
    isNewVersion =
      order?.files[.releases]?.contains(SitePaths.releaseManifest(manifest.version)) == true
  }

  /// The origin that the manifest of a site names; nil if it has none.
  package static func origin(
    of path: String, _ fileSystem: any FileSystem = RealFileSystem()
  ) throws(FetchFailure) -> Origin? {
    let site = try SiteDirectory(path, fileSystem, makes: false)
    return try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount).map {
      note throws(FetchFailure) in try Manifest(selfSigned: note).origin
    }
  }

  /// - Throws: `fork` unless `live` is a prefix of this site's log.
  package func checkExtends(_ live: Checkpoint) throws(FetchFailure) {
    guard live.size > 0 else { return }
    var tree = try AuthenticatedTree(count: checkpoint.size, root: checkpoint.root)
    let proof = try tree.consistencyProof(from: live.size) { tile throws(FetchFailure) in
      try site.presentTile(tile)
    }
    try ConsistencyProof.verify(
      size1: live.size, root1: live.root.bytes, size2: checkpoint.size,
      root2: checkpoint.root.bytes, proof: live.size == checkpoint.size ? [] : proof.map(\.bytes))
  }
}
