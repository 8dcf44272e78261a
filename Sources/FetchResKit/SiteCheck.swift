import Crypto
import Failure
import Manifest
import MerkleTree
import Publishing
import ReleaseLog
import SignedNote
import System
import Transport

/// `publish --check`: reads what was uploaded back through the normal verifier, before going live and
/// after. Before, it asks only for names that are uploaded by then, so that no cache learns that one is
/// not there yet.
package struct SiteCheck {
  private let remote: RemoteSite

  package enum State: Sendable, Equatable {
    /// Releases and tiles are uploaded; checkpoint and manifests may follow.
    case ready
    /// All of it is what clients see.
    case live
  }

  static let sampleCount = 16

  package init(_ remote: RemoteSite) { self.remote = remote }

  /// - Parameters:
  ///   - all: whether every block is read back instead of a sample.
  ///   - expectsLive: whether checkpoint and manifests are uploaded, and have to be there.
  /// - Throws: the first thing that is wrong.
  package func run(
    site: String, all: Bool, expectsLive: Bool
  ) throws(FetchFailure) -> State {
    defer { remote.transport.stop() }
    let local = try PublishedSite(site)
    // Before the first release nothing is live, and a cache would remember that it was asked for.
    let isFirst = local.checkpoint.size == 1
    var isLive = false
    if !isFirst || expectsLive { isLive = try checkCheckpoint(local) }
    try checkLog(local)
    try checkRelease(local, all: all)
    guard isLive else {
      guard !expectsLive else {
        throw FetchFailure(
          .stale, "the checkpoint that is served is an older one",
          hint: "upload checkpoint and manifests, and look at what caches them")
      }
      return .ready
    }
    for path in [SitePaths.releaseManifest(local.manifest.version), SitePaths.manifest] {
      guard try remote.fetch(path, Manifest.maximumByteCount) == local.manifestNote else {
        guard !expectsLive else {
          throw FetchFailure(
            .stale, "the \(path) that is served is an older one",
            hint: "upload the manifests, and look at what caches them")
        }
        remote.report("the checkpoint is live, \(path) is not yet")
        return .ready
      }
    }
    return .live
  }

  /// What is live has to be a prefix of what is about to be.
  ///
  /// - Returns: whether it is the same.
  private func checkCheckpoint(_ local: PublishedSite) throws(FetchFailure) -> Bool {
    let note = try remote.fetch(SitePaths.checkpoint, Checkpoint.maximumByteCount)
    let live = try Checkpoint(try SignedNote(note).verify(local.keys))
    guard live.origin == local.checkpoint.origin else {
      throw FetchFailure(.originMismatch, "what is live is \(live.origin)")
    }
    guard live.size <= local.checkpoint.size else {
      throw FetchFailure(
        .rollback,
        "what is live has \(live.size) releases, and this site only \(local.checkpoint.size)",
        hint: "this site is behind: 'fetchres publish --recover URL' brings it up to date")
    }
    try local.checkExtends(live)
    return live == local.checkpoint
  }

  private func checkLog(_ local: PublishedSite) throws(FetchFailure) {
    var tree = try AuthenticatedTree(
      count: local.checkpoint.size, root: local.checkpoint.root)
    let last = local.checkpoint.size - 1
    let index = last / Int64(Tile.width)
    let bundle = try remote.log(fallsBack: false).entries(index, of: &tree)
    guard bundle.entries.last == local.manifestNote else {
      throw FetchFailure(.notLogged, "the last entry of the uploaded log is another manifest")
    }
  }

  private func checkRelease(_ local: PublishedSite, all: Bool) throws(FetchFailure) {
    let manifest = local.manifest
    let layout = manifest.layout
    guard layout.count > 0 else { return }
    if local.isNewVersion {
      let path = SitePaths.releaseManifest(manifest.version)
      guard try remote.fetch(path, Manifest.maximumByteCount) == local.manifestNote else {
        throw FetchFailure(.stale, "\(path) is not the one that was published")
      }
    }
    var tree = try AuthenticatedTree(count: layout.count, root: manifest.root, capacity: 16)
    var verifier = BlockVerifier(layout: layout)
    var wanted = Set<Int64>()
    if !all {
      wanted = [0, layout.count - 1]
      for _ in 0..<Self.sampleCount { wanted.insert(Int64.random(in: 0..<layout.count)) }
    }
    // Every tile is read back, and the blocks as they come.
    var first: Int64 = 0
    while first < layout.count {
      let tile = first..<min(layout.count, first + Int64(Tile.width))
      try tree.gather(tile) { address throws(FetchFailure) in
        try remote.tile(address, of: manifest.version)
      }
      guard let leaves = tree.provenLeaves(tile) else {
        preconditionFailure("FetchResKit: gathered leaves are proven")
      }
      for block in tile where all || wanted.contains(block) {
        let bytes = try remote.block(block, of: manifest)
        let result: Result<[FetchFailure], FetchFailure> = bytes.withUnsafeBytes { raw in
          do throws(FetchFailure) {
            return .success(
              try verifier.verify(raw, blocks: block..<block + 1, leaves: leaves) { _ in })
          } catch { return .failure(error) }
        }
        if let failure = try result.get().first { throw failure }
      }
      first = tile.upperBound
    }
  }
}
