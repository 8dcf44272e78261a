import Crypto
import Download
import Failure
import Manifest
import MerkleTree
import Publishing
import ReleaseLog
import Storage
import System
import Transport

/// `publish --recover`: rebuilds a lost or restored site from any mirror or from the live one, verified
/// against what the key has signed. Data of old releases are not fetched.
package struct SiteRecovery {
  private let remote: RemoteSite

  package init(_ remote: RemoteSite) { self.remote = remote }

  /// - Returns: the newest manifest.
  /// - Throws: `stale`, `fork`, `tile-invalid`, and all that a fetch can end with. What was put into
  ///   place by then is verified and right; a rerun goes on.
  package func run(
    site: String, keyFile: String, passwords: PasswordSource
  ) throws(FetchFailure) -> Manifest {
    defer { remote.transport.stop() }
    let rebuild = try SiteRebuild(
      site: site, keyFile: keyFile, passwords: passwords, report: remote.report)
    let checkpoint = try rebuild.accept(
      checkpoint: try remote.fetch(SitePaths.checkpoint, 65_536))
    let log = remote.log(fallsBack: true)
    var tree = try AuthenticatedTree(count: checkpoint.size, root: checkpoint.root, capacity: 16)
    try rebuild.checkExtends(&tree) { tile throws(FetchFailure) in try log.tile(tile) }
    let bundles = (checkpoint.size - 1) / Int64(Tile.width) + 1
    for index in 0..<bundles {
      try rebuild.put(try log.entries(index, of: &tree), index: index)
    }
    let newest = try rebuild.putManifests()
    if try !rebuild.hasData(of: newest) { try recoverData(of: newest, rebuild) }
    try rebuild.finish()
    return newest
  }

  /// The data of the newest version come through the normal engine, block by verified block.
  private func recoverData(
    of manifest: Manifest, _ rebuild: SiteRebuild
  ) throws(FetchFailure) {
    remote.report("fetching the data of version \(manifest.version), \(manifest.layout.size) bytes")
    let work = try rebuild.workDirectory()
    let resource = try doing("cannot work in the site") { () throws(SystemError) in
      try PartialResource(manifest, note: Array(manifest.text.utf8), below: work)
    }
    try Downloader(
      resource, transport: remote.transport,
      sources: [DownloadSource(remote.url.base, SourceSeed(name: remote.url.base.shown))],
      limits: DownloadLimits()
    ) { _ in }.run(remote.interruption)
    try rebuild.putData(of: manifest, try resource.openBlocks())
  }
}
