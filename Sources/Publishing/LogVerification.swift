import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import Storage
import System

/// Recomputes the whole release log of a site, and the tree of every release, from what is on disk.
/// Memory grows with the number of versions alone.
package struct LogVerification {
  private let site: SiteDirectory
  private let report: (String) -> Void

  package struct Summary: Sendable, Equatable {
    package var releases: Int64 = 0
    package var versions = 0
    /// Versions whose data are not here any more, which is no fault.
    package var pruned: [String] = []
  }

  /// What the entries of the log say so far.
  private struct Chain {
    var newest: Manifest?
    /// The last entry of each version, and what every entry of it has to say.
    var versions: [String: (manifest: Manifest, entry: Digest)] = [:]
  }

  /// - Parameter report: gets sentences about what is unusual and no fault.
  package init(
    site path: String, _ fileSystem: any FileSystem = RealFileSystem(),
    report: @escaping (String) -> Void
  ) throws(FetchFailure) {
    site = try SiteDirectory(path, fileSystem, makes: false)
    self.report = report
  }

  /// - Throws: the first difference.
  package func run() throws(FetchFailure) -> Summary {
    let newestNote = try read(SitePaths.manifest, limit: Manifest.maximumByteCount)
    let checkpointNote = try read(SitePaths.checkpoint, limit: Checkpoint.maximumByteCount)
    let newest = try naming(SitePaths.manifest) { () throws(FetchFailure) in
      try Manifest(selfSigned: newestNote)
    }
    let checkpoint = try naming(SitePaths.checkpoint) { () throws(FetchFailure) in
      try Checkpoint(try SignedNote(checkpointNote).verify([newest.key]))
    }
    guard checkpoint.origin == newest.origin else {
      throw difference(.originMismatch, SitePaths.checkpoint, "is that of \(checkpoint.origin)")
    }
    let chain = try verifyEntries(checkpoint)
    guard let last = chain.newest, SHA256.digest(newestNote) == chain.versions[last.version]?.entry
    else { throw difference(.notLogged, SitePaths.manifest, "is not the last entry of the log") }

    var summary = Summary(releases: checkpoint.size, versions: chain.versions.count)
    for (version, state) in chain.versions.sorted(by: { $0.key < $1.key }) {
      let path = SitePaths.releaseManifest(version)
      guard let note = try site.read(path, limit: Manifest.maximumByteCount) else {
        throw difference(.notLogged, path, "is missing")
      }
      guard SHA256.digest(note) == state.entry else {
        throw difference(.notLogged, path, "is not the last entry of this version in the log")
      }
      guard try !ReleaseVerification(site: site).run(state.manifest) else { continue }
      guard version != last.version else {
        throw difference(
          .blockMismatch, SitePaths.file(version, state.manifest.file), "is missing")
      }
      guard try !site.has("\(SitePaths.release(version))/tile") else {
        throw difference(
          .blockMismatch, SitePaths.file(version, state.manifest.file),
          "is missing, and its tile directory is not: it is lost, or a prune was interrupted",
          hint: "where it was to be pruned, 'fetchres publish --prune \(version) --site "
            + "\(site.path)' ends that")
      }
      summary.pruned.append(version)
    }
    return summary
  }

  /// A file that every site has.
  ///
  /// - Throws: `unavailable` if there is no trace of a site.
  private func read(_ path: String, limit: Int) throws(FetchFailure) -> [UInt8] {
    if let bytes = try site.read(path, limit: limit) { return bytes }
    for trace in [SitePaths.manifest, SitePaths.checkpoint, SitePaths.releases, "tile"]
    where try site.has(trace) {
      throw difference(.notLogged, path, "is missing")
    }
    throw FetchFailure(.unavailable, "nothing is published in \(site.path)")
  }

  // MARK: The log

  private func verifyEntries(_ checkpoint: Checkpoint) throws(FetchFailure) -> Chain {
    var chain = Chain()
    var builder = TreeBuilder()
    var hasher = TreeHasher()
    var next: Int64 = 0
    while next < checkpoint.size {
      let width = Int(min(Int64(Tile.width), checkpoint.size - next))
      let path = TileAddress.entriesPath(index: next / Int64(Tile.width), width: width)
      guard let bytes = try site.read(path, limit: EntryBundle.maximumByteCount) else {
        throw difference(.tileInvalid, path, "is missing")
      }
      let bundle = try naming(path) { () throws(FetchFailure) in
        try EntryBundle(bytes, width: width)
      }
      guard bundle.bytes == bytes else {
        throw difference(.tileInvalid, path, "holds more than \(width) entries")
      }
      for entry in bundle.entries {
        try naming(path) { () throws(FetchFailure) in try verify(entry, at: next, &chain) }
        try builder.append(hasher.leaf(entry)) { tile, bytes throws(FetchFailure) in
          try compare(tile.path, bytes)
        }
        next += 1
      }
    }
    let root = try builder.finish { tile, bytes throws(FetchFailure) in
      try compare(tile.path, bytes)
    }
    guard root == checkpoint.root else {
      throw difference(
        .tileInvalid, SitePaths.checkpoint,
        "says the root \(checkpoint.root), and the entries lead to \(root)")
    }
    return chain
  }

  private func verify(
    _ entry: [UInt8], at index: Int64, _ chain: inout Chain
  ) throws(FetchFailure) {
    let manifest: Manifest
    do throws(FetchFailure) { manifest = try Manifest(selfSigned: entry) } catch {
      throw difference(error.category, "entry \(index)", "is no release: \(error.message)")
    }
    guard manifest.release == index else {
      throw difference(.notLogged, "entry \(index)", "says that it is release \(manifest.release)")
    }
    var since = index
    if let before = chain.newest {
      guard manifest.origin == before.origin else {
        throw difference(.originMismatch, "entry \(index)", "is of \(manifest.origin)")
      }
      if manifest.key == before.key {
        since = before.since
        guard manifest.nextKey == before.nextKey else {
          throw difference(.keyChange, "entry \(index)", "announces another next key than before")
        }
      } else if before.nextKey != SHA256.digest(Array(manifest.key.description.utf8)) {
        report("entry \(index) is signed by \(manifest.key), which was not announced")
      }
    }
    guard manifest.since == since else {
      throw difference(
        .keyChange, "entry \(index)", "says since \(manifest.since) instead of \(since)")
    }
    if let earlier = chain.versions[manifest.version],
      !manifest.hasSameContent(as: earlier.manifest)
    {
      throw difference(
        .versionReused, "entry \(index)", "gives version \(manifest.version) other content")
    }
    chain.newest = manifest
    chain.versions[manifest.version] = (manifest, SHA256.digest(entry))
  }

  private func compare(_ path: String, _ bytes: [UInt8]) throws(FetchFailure) {
    try site.compare(path, bytes)
  }

  /// Says in which file it is that something does not hold.
  private func naming<Result>(
    _ path: String, _ body: () throws(FetchFailure) -> Result
  ) throws(FetchFailure) -> Result {
    do throws(FetchFailure) { return try body() } catch {
      var failure = error
      failure.message = "\(path): \(error.message)"
      throw failure
    }
  }

  private func difference(
    _ category: FailureCategory, _ path: String, _ what: String, hint: String? = nil
  ) -> FetchFailure {
    FetchFailure(category, "\(path) \(what)", hint: hint)
  }
}
