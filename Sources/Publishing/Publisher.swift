import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote
import Storage
import System

/// What to publish.
package struct PublishRequest: Sendable {
  package var file: String
  package var site: String
  package var version: String
  /// Secret key files; the first signs as `key`, the others co-sign.
  package var keyFiles: [String]
  package var blockSize: Int64?
  package var expires: UTCDate?
  package var mirrors: [String] = []
  /// The public key that will follow.
  package var nextKey: NoteKey?
  package var links = false
  /// The name of the file in the site, if not its own.
  package var name: String?
  package var forcesUnannouncedKey = false
  package var clockWasWrong = false
  /// Whether the checkpoint waits for cosignatures before it is served.
  package var holdsCheckpoint = false

  package init(file: String, site: String, version: String, keyFiles: [String]) {
    (self.file, self.site, self.version, self.keyFiles) = (file, site, version, keyFiles)
  }
}

package struct PublishResult: Sendable {
  package var manifest: Manifest
  /// Whether there was nothing to do: it was published before, or is held.
  package var wasThere: Bool
  /// Whether its data were gone, and are there again.
  package var hasPutBack = false
  /// The signed checkpoint that waits for cosignatures.
  package var heldCheckpoint: [UInt8]?
}

/// Publishes releases to a site on disk, so that at no moment clients see anything but the old or the
/// new release, whole.
package struct Publisher {
  let fileSystem: any FileSystem
  let passwords: PasswordSource
  let now: () -> UTCDate
  let report: (String) -> Void

  /// - Parameters:
  ///   - passwords: asked for keys that are under one.
  ///   - report: gets sentences for the user.
  package init(
    fileSystem: any FileSystem = RealFileSystem(), passwords: PasswordSource = .none,
    now: @escaping () -> UTCDate = { UTCDate(seconds: Clocks.wall()) },
    report: @escaping (String) -> Void
  ) {
    (self.fileSystem, self.passwords, self.now, self.report) = (fileSystem, passwords, now, report)
  }

  /// Publishes a new version.
  ///
  /// - Throws: `usage`, `origin-mismatch`, `version-reused`, `rollback`, `fork`, `key-change`,
  ///   `locked`, and what the disk says. Nothing that is served has changed then.
  package func publish(_ request: PublishRequest) throws(FetchFailure) -> PublishResult {
    let completed = try completePending(
      site: request.site, keyFiles: request.keyFiles, holds: request.holdsCheckpoint)
    let input = try PublishInput(request, fileSystem)
    if let completed, completed.heldCheckpoint != nil {
      guard completed.manifest.version == request.version else {
        throw SiteTransaction.held(request.site)
      }
      let site = try SiteDirectory(request.site, fileSystem, makes: false)
      _ = try check(input, against: completed.manifest, site)
      return completed
    }
    try Self.check(request.mirrors)
    let session = try PublishSession(
      self, site: request.site, keyFiles: request.keyFiles, makes: true,
      takesOver: request.forcesUnannouncedKey)
    if let there = try publishedManifest(request.version, session.site) {
      let isWhole = try check(input, against: there, session.site)
      let builder = ReleaseBuilder(site: session.site, version: there.version, file: there.file)
      if isWhole { try builder.settle() } else { try putBack(there, input, builder) }
      try UploadOrder.forgetEarlier(session.lock)
      return PublishResult(manifest: there, wasThere: true, hasPutBack: !isWhole)
    }
    guard try !session.site.has(SitePaths.release(request.version)) else {
      throw FetchFailure(
        .usage,
        "\(Path.join(request.site, SitePaths.release(request.version))) is there and no release",
        hint: "move it away, or choose another version")
    }
    try checkCase(request.version, input.name, session)

    var manifest = try session.manifest(
      version: request.version, file: input.name, layout: try layout(of: input, request),
      root: .empty, mirrors: request.mirrors,
      PublishSession.Terms(
        nextKey: request.nextKey, expires: request.expires,
        forcesUnannouncedKey: request.forcesUnannouncedKey, clockWasWrong: request.clockWasWrong))
    let builder = ReleaseBuilder(site: session.site, version: request.version, file: input.name)
    let transaction: SiteTransaction
    do throws(FetchFailure) {
      manifest.root = try builder.build(
        input.file, opened: input.status, layout: manifest.layout, entry: input.entry)
      transaction = try session.transaction(
        manifest, appears: true, holds: request.holdsCheckpoint)
    } catch {
      builder.discard()
      throw error
    }
    try session.perform(transaction)
    return PublishResult(
      manifest: manifest, wasThere: false, heldCheckpoint: transaction.heldCheckpoint)
  }

  static func check(_ mirrors: [String]) throws(FetchFailure) {
    for mirror in mirrors where !Mirror.isValid(mirror) {
      throw FetchFailure(
        .usage, "'\(URLText.shown(mirror))' is no mirror URL",
        hint: "a mirror is http or https, a lower-case host and a path that ends in /")
    }
    guard mirrors.count <= Manifest.maximumMirrors else {
      throw FetchFailure(.usage, "a manifest names at most \(Manifest.maximumMirrors) mirrors")
    }
  }

  func publishedManifest(
    _ version: String, _ site: SiteDirectory
  ) throws(FetchFailure) -> Manifest? {
    guard
      let bytes = try site.read(
        SitePaths.releaseManifest(version), limit: Manifest.maximumByteCount)
    else { return nil }
    return try Manifest(selfSigned: bytes)
  }

  /// Names that differ only in case cannot lie beside each other everywhere.
  private func checkCase(
    _ version: String, _ file: String, _ session: PublishSession
  ) throws(FetchFailure) {
    let names =
      try doing("cannot list the releases") { () throws(SystemError) in
        try session.site.locate("\(SitePaths.releases)/x")?.0.entries()
      } ?? []
    func check(_ name: String, _ other: String, _ what: String) throws(FetchFailure) {
      guard name != other, name.lowercased() == other.lowercased() else { return }
      throw FetchFailure(
        .usage, "the \(what) \(name) differs only in case from \(other), which is published",
        hint: "file systems that ignore case could not keep both: choose another name")
    }
    for name in names { try check(version, name, "version") }
    if let newest = session.newest { try check(file, newest.file, "file") }
  }

  /// - Returns: whether file and tiles of that version are all there.
  /// - Throws: `version-reused` for other content.
  private func check(
    _ input: PublishInput, against there: Manifest, _ site: SiteDirectory
  ) throws(FetchFailure) -> Bool {
    let other = FetchFailure(
      .versionReused, "version \(there.version) is published with other content",
      hint: "a version never changes: publish this file under a new one")
    guard input.status.size == there.layout.size, input.name == there.file else { throw other }
    var isWhole = try site.has(SitePaths.file(there.version, there.file))
    let root = try TreeOfFile.root(of: input.file, layout: there.layout) {
      tile throws(FetchFailure) in
      if isWhole { isWhole = try site.has(SitePaths.tile(there.version, tile)) }
    }
    guard root == there.root else { throw other }
    return isWhole
  }

  /// Puts the data of a version back that were pruned or lost.
  private func putBack(
    _ there: Manifest, _ input: PublishInput, _ builder: ReleaseBuilder
  ) throws(FetchFailure) {
    do throws(FetchFailure) {
      let root = try builder.build(
        input.file, opened: input.status, layout: there.layout, entry: input.entry)
      guard root == there.root else {
        throw FetchFailure(.ioError, "the input file changed while it was read")
      }
      try builder.putBack()
    } catch {
      builder.discard()
      throw error
    }
  }

  private func layout(
    of input: PublishInput, _ request: PublishRequest
  ) throws(FetchFailure) -> BlockLayout {
    let blockSize = request.blockSize ?? BlockLayout.defaultBlockSize(size: input.status.size)
    guard let layout = BlockLayout(size: input.status.size, blockSize: blockSize) else {
      throw FetchFailure(
        .usage, "a file of \(input.status.size) bytes cannot be cut into blocks of \(blockSize)",
        hint: "blocks have 1 to \(BlockLayout.maximumBlockSize) bytes, "
          + "and a file at most \(BlockLayout.maximumCount) of them")
    }
    return layout
  }
}
