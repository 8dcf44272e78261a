import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import Storage
import System

/// Puts a site that was lost or restored together again, from pieces that the caller fetches and this
/// verifies: log tiles, bundles, the manifests of the versions, checkpoint and manifest. What is there
/// already and right stays; what is there and wrong is never overwritten.
package final class SiteRebuild {
  private let site: SiteDirectory
  private let lock: SiteLock
  private let keyFile: KeyFile
  private let fileSystem: any FileSystem
  private let report: (String) -> Void
  /// What the key has signed as far as its record knows.
  private var signed: Checkpoint?
  /// What the site holds, if it is intact and the key signed it.
  private var own: Checkpoint?

  private var checkpointNote: [UInt8] = []
  private var builder = TreeBuilder()
  /// The last release of each version.
  private var newestRelease: [String: Int64] = [:]
  private var newest: Manifest?
  private var newestNote: [UInt8] = []
  /// Manifests of older versions that are there and were refreshed since.
  private var refreshed: [SiteTransaction.Step] = []

  package init(
    site path: String, keyFile: String, _ fileSystem: any FileSystem = RealFileSystem(),
    passwords: PasswordSource = .none,
    report: @escaping (String) -> Void
  ) throws(FetchFailure) {
    self.fileSystem = fileSystem
    self.report = report
    let keyFile = try KeyFile(keyFile, fileSystem, passwords: passwords)
    self.keyFile = keyFile
    site = try SiteDirectory(path, fileSystem, makes: true)
    lock = try site.lock()
    try forgetRefused(passwords)
    let publisher = Publisher(fileSystem: fileSystem, passwords: passwords, report: report)
    _ = try publisher.finishPending(site, lock, keyFiles: [keyFile.path])
    try keyFile.lock()
    if let head = try KeyHead(keyFile: keyFile.path).read(fileSystem) {
      signed = try Checkpoint(try SignedNote(head).verify([keyFile.key.key]))
    }
    own = try site.read(SitePaths.checkpoint, limit: Checkpoint.maximumByteCount)
      .flatMap { KeyHead.checkpoint($0, by: [keyFile.key.key]) }
  }

  /// Proves that the log which is recovered continues what the key signed and what the site holds.
  ///
  /// - Parameters:
  ///   - tree: that of the accepted checkpoint.
  ///   - tile: fetches a tile of it.
  /// - Throws: `proof-malformed`, and whatever `tile` does.
  package func checkExtends(
    _ tree: inout AuthenticatedTree,
    tile: (TileAddress) throws(FetchFailure) -> SuspectTile
  ) throws(FetchFailure) {
    for known in [signed, own].compactMap(\.self) where known.size > 0 {
      let proof = try tree.consistencyProof(from: known.size, tile: tile)
      try ConsistencyProof.verify(
        size1: known.size, root1: known.root.bytes, size2: tree.shape.count, root2: tree.root.bytes,
        proof: proof.map(\.bytes))
    }
  }

  /// What the keys refuse to complete is of no use to a site that is rebuilt from what they signed.
  private func forgetRefused(_ passwords: PasswordSource) throws(FetchFailure) {
    guard
      let refusal = try SiteTransaction.pending(lock)?
        .relocated(to: [keyFile.path], fileSystem, passwords).headRefusal(site, fileSystem)
    else { return }
    try SiteTransaction.forget(lock)
    _ = try ReleaseBuilder.removeUnfinished(in: site)
    report("an unfinished publish is forgotten: \(refusal.message)")
  }

  /// Judges a checkpoint that somebody serves.
  ///
  /// - Throws: `unknown-key`, `bad-signature`, `origin-mismatch`; `stale` if it is older than what the
  ///   key has signed or the site holds; `fork` for another root at the same size.
  package func accept(checkpoint note: [UInt8]) throws(FetchFailure) -> Checkpoint {
    let checkpoint = try Checkpoint(try SignedNote(note).verify([keyFile.key.key]))
    guard checkpoint.origin == keyFile.key.key.origin else {
      throw FetchFailure(.originMismatch, "the checkpoint is that of \(checkpoint.origin)")
    }
    if let signed {
      guard checkpoint.size >= signed.size else {
        throw FetchFailure(
          .stale,
          "this source has \(checkpoint.size) of the \(signed.size) releases that the key signed",
          hint: "recover from a mirror that is not behind")
      }
      guard checkpoint.size > signed.size || checkpoint.root == signed.root else {
        throw FetchFailure(
          .fork, "this source shows another history than the one that the key signed")
      }
    }
    if let own {
      guard checkpoint.size >= own.size else {
        throw FetchFailure(
          .stale,
          "this source has \(checkpoint.size) releases, and \(site.path) has \(own.size) that the key "
            + "signed",
          hint: "the site is ahead of it: recover from a mirror that is not behind")
      }
      guard checkpoint.size > own.size || checkpoint.root == own.root else {
        throw FetchFailure(
          .fork, "this source shows another history than \(site.path), and the key signed both",
          hint: "find out which of them clients have seen; recover that one into an empty directory"
        )
      }
    }
    guard checkpoint.size > 0 else {
      throw FetchFailure(.unavailable, "the log of this source is empty")
    }
    checkpointNote = note
    return checkpoint
  }

  /// Writes one bundle of entries that are proven leaves of the log, and the tiles that it completes.
  /// Bundles come in order.
  package func put(_ bundle: EntryBundle, index: Int64) throws(FetchFailure) {
    try put(
      TileAddress.entriesPath(index: index, width: bundle.entries.count), bundle.bytes)
    var hasher = TreeHasher()
    for entry in bundle.entries {
      let manifest = try Manifest(selfSigned: entry)
      newestRelease[manifest.version] = builder.count
      (newest, newestNote) = (manifest, entry)
      try builder.append(hasher.leaf(entry)) { tile, bytes throws(FetchFailure) in
        try put(tile.path, bytes)
      }
    }
  }

  /// Writes the partial tiles, and the manifest of every version but the newest. One that is there and
  /// older is served until the checkpoint that has the newer one is.
  ///
  /// - Returns: the newest manifest, whose data have to be in place before ``finish()``.
  package func putManifests() throws(FetchFailure) -> Manifest {
    _ = try builder.finish { tile, bytes throws(FetchFailure) in try put(tile.path, bytes) }
    guard let newest else {
      throw FetchFailure(.unavailable, "the log of this source is empty")
    }
    for (version, release) in newestRelease where version != newest.version {
      let path = SitePaths.releaseManifest(version)
      let note = try site.logEntry(release, of: builder.count)
      if let there = try site.read(path, limit: SiteDirectory.fileLimit), there != note {
        refreshed.append(.mutable(path: path, bytes: note))
      } else {
        try replace(path, note)
      }
    }
    return newest
  }

  /// Whether the data of the newest version are here, with the right bytes and tiles.
  package func hasData(of manifest: Manifest) throws(FetchFailure) -> Bool {
    do throws(FetchFailure) {
      return try ReleaseVerification(site: site).run(manifest)
    } catch {
      guard error.category.exitCode() == 4 || error.category == .sizeMismatch else { throw error }
      return false
    }
  }

  /// Where data of the newest version can be put together, out of sight.
  package func workDirectory() throws(FetchFailure) -> any Directory {
    try doing("cannot work in \(site.path)") { () throws(SystemError) in
      try lock.own.openOrMakeDirectory("recovery", permissions: 0o700)
    }
  }

  /// Puts verified data of the newest version into place, hashed once more on the way.
  package func putData(of manifest: Manifest, _ file: any File) throws(FetchFailure) {
    let builder = ReleaseBuilder(site: site, version: manifest.version, file: manifest.file)
    let opened = try doing("cannot look at the data") { () throws(SystemError) in
      try file.status()
    }
    let root = try builder.build(file, opened: opened, layout: manifest.layout, entry: .copy)
    guard root == manifest.root else {
      throw FetchFailure(.blockMismatch, "the data of \(manifest.version) lead to \(root)")
    }
    try doing("cannot put the data of \(manifest.version) into place") {
      () throws(SystemError) in
      guard let (releases, name) = try site.locate(SitePaths.release(manifest.version)) else {
        throw SystemError(SystemError.notFound, "open", path: SitePaths.releases)
      }
      let temporary = ReleaseBuilder.temporaryName(manifest.version)
      try releases.openDirectory(temporary).replaceFile(SitePaths.manifest, newestNote)
      // What is there has no right data: it goes aside first, and away last.
      let aside = ReleaseBuilder.temporaryName("old-" + manifest.version)
      try releases.removeTree(aside)
      if try releases.statusIfPresent(name) != nil {
        try releases.rename(name, to: releases, aside)
      }
      try releases.rename(temporary, to: releases, name)
      try releases.sync()
      try releases.removeTree(aside)
    }
  }

  /// Puts checkpoint and manifest into place, last, and the key's own record with them.
  package func finish() throws(FetchFailure) {
    guard let newest else { preconditionFailure("Publishing: nothing was rebuilt") }
    let transaction = SiteTransaction(
      steps: [
        .head(
          key: keyFile.key.key, path: KeyHead(keyFile: keyFile.path).path, bytes: checkpointNote),
        .mutable(path: SitePaths.checkpoint, bytes: checkpointNote),
      ] + refreshed + [
        .mutable(path: SitePaths.releaseManifest(newest.version), bytes: newestNote),
        .mutable(path: SitePaths.manifest, bytes: newestNote),
      ])
    try transaction.check(site, fileSystem)
    try transaction.stage(lock)
    try transaction.complete(site, lock, fileSystem)
    if signed == nil { report(KeyHead.adoption(keyFile.path)) }
    try doing("cannot tidy up in \(site.path)") { () throws(SystemError) in
      // Nobody has kept account of all that was put: what is uploaded now has to be the whole site.
      try lock.own.removeIfPresent(UploadOrder.recordName)
      try lock.own.removeIfPresent(UploadOrder.earlierName)
      try lock.own.sync()
      try lock.own.removeTree("recovery")
    }
  }

  private func put(_ path: String, _ bytes: [UInt8]) throws(FetchFailure) {
    if let there = try site.read(path, limit: SiteDirectory.fileLimit) {
      guard there == bytes else {
        throw FetchFailure(
          .ioError, "\(Path.join(site.path, path)) is there with other bytes",
          hint: "nothing was overwritten; recover into an empty directory")
      }
      // Whoever wrote it may have been killed before it was durable.
      return try site.makeDurable(path)
    }
    try replace(path, bytes)
  }

  private func replace(_ path: String, _ bytes: [UInt8]) throws(FetchFailure) {
    try doing("cannot write \(Path.join(site.path, path))") { () throws(SystemError) in
      guard let (directory, name) = try site.locate(path, makes: true) else {
        preconditionFailure("Publishing: a directory was not made")
      }
      try directory.replaceFile(name, bytes)
    }
  }
}
