import Crypto
import Failure
import Manifest
import SignedNote
import Storage
import System

/// What else can be done to a site.
extension Publisher {
  package struct RefreshRequest: Sendable {
    package var site: String
    package var keyFiles: [String]
    package var expires: UTCDate?
    /// Nil keeps those of the last release.
    package var mirrors: [String]?
    package var nextKey: NoteKey?
    package var forcesUnannouncedKey = false
    package var clockWasWrong = false
    package var holdsCheckpoint = false

    package init(site: String, keyFiles: [String]) {
      (self.site, self.keyFiles) = (site, keyFiles)
    }
  }

  /// Signs the newest version again: a new release with the same content and new dates.
  ///
  /// - Throws: as `publish`; `usage` where nothing was published yet.
  package func refresh(_ request: RefreshRequest) throws(FetchFailure) -> PublishResult {
    let completed = try completePending(
      site: request.site, keyFiles: request.keyFiles, holds: request.holdsCheckpoint)
    if let completed, completed.heldCheckpoint != nil { return completed }
    try Self.check(request.mirrors ?? [])
    let session = try PublishSession(
      self, site: request.site, keyFiles: request.keyFiles, makes: false,
      takesOver: request.forcesUnannouncedKey)
    guard let newest = session.newest else {
      throw FetchFailure(
        .usage, "the site \(request.site) has no release to refresh",
        hint: "publish a file first")
    }
    if completed != nil || session.hasCompleted {
      try UploadOrder.forgetEarlier(session.lock)
      return PublishResult(manifest: newest, wasThere: true)
    }
    let manifest = try session.manifest(
      version: newest.version, file: newest.file, layout: newest.layout, root: newest.root,
      mirrors: request.mirrors ?? newest.mirrors, extensions: newest.extensions,
      PublishSession.Terms(
        nextKey: request.nextKey, expires: request.expires,
        forcesUnannouncedKey: request.forcesUnannouncedKey, clockWasWrong: request.clockWasWrong))
    let transaction = try session.transaction(
      manifest, appears: false, holds: request.holdsCheckpoint)
    try session.perform(transaction)
    return PublishResult(
      manifest: manifest, wasThere: false, heldCheckpoint: transaction.heldCheckpoint)
  }

  /// Removes data and block tiles of an old version. Its manifest stays, so that the version can
  /// never be given other content.
  ///
  /// - Returns: whether there was anything to remove.
  /// - Throws: `usage` for the newest version and for one that is not there.
  package func prune(_ version: String, site path: String) throws(FetchFailure) -> Bool {
    let site = try SiteDirectory(path, fileSystem, makes: false)
    let lock = try site.lock()
    _ = try finishPending(site, lock, keyFiles: [])
    try UploadOrder.forgetEarlier(lock)
    guard Manifest.isVersion(version), let manifest = try publishedManifest(version, site) else {
      throw FetchFailure(.usage, "the site \(path) has no version \(version)")
    }
    guard let newest = try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount),
      try Manifest(selfSigned: newest).version != version
    else {
      throw FetchFailure(
        .usage, "version \(version) is the newest, and clients are about to ask for it",
        hint: "publish a newer one first")
    }
    return try doing("cannot remove the data of \(version)") { () throws(SystemError) in
      guard let (release, _) = try site.locate(SitePaths.releaseManifest(version)) else {
        return false
      }
      // The file first: tiles that are left mislead nobody, and pruning it again removes them.
      let hadFile = try release.removeIfPresent(manifest.file)
      try release.sync()
      let hadTiles = try release.statusIfPresent("tile") != nil
      try release.removeTree("tile")
      try release.sync()
      return hadFile || hadTiles
    }
  }

  /// Forgets a publish that was interrupted before anything of it was put into place.
  ///
  /// - Returns: whether there was one.
  /// - Throws: `usage` if part of it is in place: then it can only be completed.
  package func abandon(site path: String) throws(FetchFailure) -> Bool {
    let site = try SiteDirectory(path, fileSystem, makes: false)
    let lock = try site.lock()
    guard let pending = try SiteTransaction.pending(lock) else {
      return try ReleaseBuilder.removeUnfinished(in: site)
    }
    guard try !pending.hasBegun(site, fileSystem) else {
      throw FetchFailure(
        .usage, "part of the interrupted publish is in place already, and clients may have seen it",
        hint: "run 'fetchres publish' again with any arguments to complete it")
    }
    try SiteTransaction.forget(lock)
    _ = try ReleaseBuilder.removeUnfinished(in: site)
    return true
  }
}
