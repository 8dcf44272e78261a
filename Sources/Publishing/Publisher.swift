import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
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

  package init(file: String, site: String, version: String, keyFiles: [String]) {
    (self.file, self.site, self.version, self.keyFiles) = (file, site, version, keyFiles)
  }
}

package struct PublishResult: Sendable {
  package var manifest: Manifest
  /// Whether there was nothing to do.
  package var wasThere: Bool
}

/// Publishes releases to a site on disk, so that at no moment clients see anything but the old or the
/// new release, whole.
package struct Publisher {
  private let fileSystem: any FileSystem
  private let now: () -> UTCDate
  private let report: (String) -> Void

  /// - Parameter report: gets sentences for the user.
  package init(
    fileSystem: any FileSystem = RealFileSystem(),
    now: @escaping () -> UTCDate = { UTCDate(seconds: Clocks.wall()) },
    report: @escaping (String) -> Void
  ) {
    (self.fileSystem, self.now, self.report) = (fileSystem, now, report)
  }

  /// - Throws: `usage`, `origin-mismatch`, `version-reused`, `rollback`, `fork`, `key-change`,
  ///   `locked`, and what the disk says. Nothing that is served has changed then.
  package func publish(_ request: PublishRequest) throws(FetchFailure) -> PublishResult {
    let input = try Input(request, fileSystem)
    var keys: [KeyFile] = []
    for path in request.keyFiles { keys.append(try KeyFile(path, fileSystem)) }
    guard let first = keys.first else {
      throw FetchFailure(.usage, "a release has to be signed", hint: "name a key file with --key")
    }
    guard let origin = first.key.key.origin,
      keys.allSatisfy({ $0.key.key.origin == origin })
    else { throw FetchFailure(.usage, "the keys are not of one origin") }
    guard Set(keys.map(\.key.key)).count == keys.count else {
      throw FetchFailure(.usage, "a key is named twice, and a note has one signature of each")
    }
    for mirror in request.mirrors where !Mirror.isValid(mirror) {
      throw FetchFailure(
        .usage, "'\(mirror)' is no mirror URL",
        hint: "a mirror is http or https, a lower-case host and a path that ends in /")
    }

    let site = try SiteDirectory(request.site, fileSystem, makes: true)
    let lock = try site.lock()
    if let pending = try SiteTransaction.pending(lock) {
      report("a publish that was interrupted is completed first")
      try pending.complete(site, lock, fileSystem)
    }
    let history = try History(site, keys, fileSystem)
    if history.adoptsHead {
      report(
        "the key has no record yet: the site's checkpoint becomes its head, which protects from now on"
      )
    }
    let newest = try newestManifest(site, history, first.key.key)

    let layout = try layout(of: input, request)
    if let there = try publishedManifest(request.version, site) {
      return try compare(input, layout, with: there)
    }

    var manifest = try describe(
      request, input, layout, origin: origin, key: first.key.key, history: history, newest: newest)
    let log = try LogWriter(site, history.checkpoint)
    let builder = ReleaseBuilder(site: site, version: request.version, file: input.name)
    let transaction: SiteTransaction
    do throws(FetchFailure) {
      manifest.root = try builder.build(
        input.file, layout: layout,
        entry: request.links ? .link(input.parent, input.entryName) : .copy)
      transaction = try self.transaction(manifest, keys, site, log)
      try transaction.check(site)
    } catch {
      builder.discard()
      throw error
    }
    try transaction.stage(lock)
    try transaction.complete(site, lock, fileSystem)
    return PublishResult(manifest: manifest, wasThere: false)
  }

  // MARK: What is there

  /// The newest manifest of the site, which has to be the last entry of its log.
  private func newestManifest(
    _ site: SiteDirectory, _ history: History, _ key: NoteKey
  ) throws(FetchFailure) -> Manifest? {
    guard let bytes = try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount) else {
      return nil
    }
    let manifest = try Manifest(selfSigned: bytes)
    guard manifest.origin == key.origin else {
      throw FetchFailure(
        .originMismatch, "the site is that of \(manifest.origin), and the key is for \(key.name)",
        hint: "publish another resource to another site")
    }
    guard let checkpoint = history.checkpoint, manifest.release == checkpoint.size - 1,
      try lastEntry(checkpoint, site) == bytes
    else {
      throw FetchFailure(
        .rollback, "the manifest of the site \(site.path) is not the last entry of its log",
        hint: "rebuild the site with 'fetchres publish --recover URL --site \(site.path)'")
    }
    return manifest
  }

  /// As it lies there: the log is authenticated when it is appended to.
  private func lastEntry(
    _ checkpoint: Checkpoint, _ site: SiteDirectory
  ) throws(FetchFailure) -> [UInt8]? {
    let index = (checkpoint.size - 1) / Int64(Tile.width)
    let width = Int(checkpoint.size - index * Int64(Tile.width))
    let path = TileAddress.entriesPath(index: index, width: width)
    guard let bytes = try site.read(path, limit: EntryBundle.maximumByteCount) else {
      throw FetchFailure(.tileInvalid, "\(path) of the release log is missing in \(site.path)")
    }
    return try EntryBundle(bytes, width: width).entries.last
  }

  private func publishedManifest(
    _ version: String, _ site: SiteDirectory
  ) throws(FetchFailure) -> Manifest? {
    let path = SitePaths.releaseManifest(version)
    if let bytes = try site.read(path, limit: Manifest.maximumByteCount) {
      return try Manifest(selfSigned: bytes)
    }
    guard try !site.has(SitePaths.release(version)) else {
      throw FetchFailure(
        .usage, "\(Path.join(site.path, SitePaths.release(version))) is there and no release",
        hint: "move it away, or choose another version")
    }
    let names =
      try doing("cannot list the releases") { () throws(SystemError) in
        try site.locate("\(SitePaths.releases)/x")?.0.entries()
      } ?? []
    for name in names where name != version && name.lowercased() == version.lowercased() {
      throw FetchFailure(
        .usage, "version \(version) differs only in case from \(name), which is published",
        hint: "clients on file systems that ignore case could not keep both")
    }
    return nil
  }

  private func compare(
    _ input: Input, _ layout: BlockLayout, with there: Manifest
  ) throws(FetchFailure) -> PublishResult {
    let root = try TreeOfFile.root(
      of: input.file,
      layout: BlockLayout(size: layout.size, blockSize: there.layout.blockSize) ?? layout)
    guard there.layout.size == layout.size, there.root == root, there.file == input.name else {
      throw FetchFailure(
        .versionReused, "version \(there.version) is published with other content",
        hint: "a version never changes: publish this file under a new one")
    }
    return PublishResult(manifest: there, wasThere: true)
  }

  // MARK: What will be there

  private func layout(
    of input: Input, _ request: PublishRequest
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

  /// The manifest of the new release, but for its root.
  private func describe(
    _ request: PublishRequest, _ input: Input, _ layout: BlockLayout, origin: Origin, key: NoteKey,
    history: History, newest: Manifest?
  ) throws(FetchFailure) -> Manifest {
    let published = now()
    if let expires = request.expires, expires <= published {
      throw FetchFailure(.usage, "the release would expire before it is published")
    }
    let release = history.checkpoint?.size ?? 0
    var since = release
    var nextKey = request.nextKey.map { SHA256.digest(Array($0.description.utf8)) }
    if let newest {
      if newest.key == key {
        since = newest.since
        if nextKey == nil { nextKey = newest.nextKey }
        guard nextKey == newest.nextKey else {
          throw FetchFailure(
            .keyChange, "the next key of \(key.name) was announced differently before",
            hint: "an announcement stays the same as long as the key does")
        }
      } else {
        let isAnnounced = newest.nextKey == SHA256.digest(Array(key.description.utf8))
        guard isAnnounced || request.forcesUnannouncedKey else {
          throw FetchFailure(
            .keyChange, "the site was signed by \(newest.key), which never announced this key",
            hint: "clients will refuse it until they trust it by hand; "
              + "--force-unannounced-key signs all the same")
        }
      }
    }
    return Manifest(
      origin: origin, version: request.version, release: release, layout: layout, root: .empty,
      file: input.name, published: published, expires: request.expires, key: key, since: since,
      nextKey: nextKey, mirrors: request.mirrors)
  }

  /// Everything that changes but the release directory itself, in the order in which it changes.
  private func transaction(
    _ manifest: Manifest, _ keys: [KeyFile], _ site: SiteDirectory, _ log: consuming LogWriter
  ) throws(FetchFailure) -> SiteTransaction {
    let note = SignedNote.sign(text: manifest.text, keys: keys.map(\.key))
    guard note.count <= Manifest.maximumByteCount else {
      throw FetchFailure(.usage, "the manifest would have \(note.count) bytes; that is too many")
    }
    let (files, root) = log.append(note)
    let checkpoint = Checkpoint(origin: manifest.origin, size: log.size, root: root)
    let signed = SignedNote.sign(text: checkpoint.text, keys: keys.map(\.key))

    var steps: [SiteTransaction.Step] = keys.map {
      .head(path: KeyHead(keyFile: $0.path).path, bytes: signed)
    }
    // The manifest of a version appears with the version.
    try doing("cannot build the release in \(site.path)") { () throws(SystemError) in
      try site.locate(releaseManifestBefore(manifest.version))?.0.replaceFile(
        SitePaths.manifest, note)
    }
    steps.append(.release(version: manifest.version))
    steps += files.map { .immutable(path: $0.path, bytes: $0.bytes) }
    steps.append(.mutable(path: SitePaths.checkpoint, bytes: signed))
    steps.append(.mutable(path: SitePaths.manifest, bytes: note))
    return SiteTransaction(steps: steps)
  }

  private func releaseManifestBefore(_ version: String) -> String {
    "\(SitePaths.releases)/\(ReleaseBuilder.temporaryName(version))/\(SitePaths.manifest)"
  }
}

/// The file to publish, opened once.
private struct Input {
  let file: any File
  let parent: any Directory
  let entryName: String
  /// The name in the site.
  let name: String
  let status: FileStatus

  init(_ request: PublishRequest, _ fileSystem: any FileSystem) throws(FetchFailure) {
    guard Manifest.isVersion(request.version) else {
      throw FetchFailure(
        .usage, "'\(request.version)' is no version",
        hint: "1 to 128 of A-Z a-z 0-9 . _ + -, not beginning with . or -, and not 'current'")
    }
    entryName = Path.name(request.file)
    name = request.name ?? entryName
    guard Manifest.isFile(name) else {
      throw FetchFailure(
        .usage, "'\(name)' is no file name for a manifest",
        hint: "give another with --as: 1 to 128 of A-Z a-z 0-9 . _ + -, not beginning with . or -")
    }
    do throws(SystemError) {
      file = try fileSystem.openFile(request.file)
      status = try file.status()
      parent = try fileSystem.openDirectory(Path.parent(request.file))
    } catch {
      if error.code == SystemError.notFound {
        throw FetchFailure(.usage, "there is no file \(request.file)")
      }
      throw error.failure("cannot read \(request.file)")
    }
    guard status.kind == .regular else {
      throw FetchFailure(.usage, "\(request.file) is no regular file")
    }
    if request.links, (try? parent.status(entryName))?.kind != .regular {
      throw FetchFailure(
        .usage, "\(request.file) is a symbolic link, which --link cannot share",
        hint: "name the file that it points to")
    }
  }
}

/// What a site and its keys have signed so far.
private struct History {
  /// The verified head of the site's log; nil for a site without one.
  let checkpoint: Checkpoint?
  /// Whether a key had no record of its own, so that the site's checkpoint counts.
  let adoptsHead: Bool

  /// - Throws: `rollback` where the site is older than what the key signed, `fork` where it is another
  ///   history, `unknown-key` where the key never signed the site.
  init(
    _ site: SiteDirectory, _ keys: [KeyFile], _ fileSystem: any FileSystem
  ) throws(FetchFailure) {
    let note = try site.read(SitePaths.checkpoint, limit: 65_536)
    var checkpoint: Checkpoint?
    if let note { checkpoint = try Self.siteCheckpoint(note, site) }
    self.checkpoint = checkpoint
    var adopts = false
    for file in keys {
      guard let head = try KeyHead(keyFile: file.path).read(fileSystem) else {
        adopts = adopts || checkpoint != nil
        continue
      }
      let signed = try Checkpoint(try SignedNote(head).verify([file.key.key]))
      try Self.check(signed, against: checkpoint, site)
    }
    adoptsHead = adopts
  }

  /// The checkpoint of the site, under the key that its newest manifest names.
  private static func siteCheckpoint(
    _ note: [UInt8], _ site: SiteDirectory
  ) throws(FetchFailure) -> Checkpoint {
    guard let bytes = try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount) else {
      throw FetchFailure(
        .ioError, "the site \(site.path) has a checkpoint and no manifest",
        hint: "rebuild it with 'fetchres publish --recover URL --site \(site.path)'")
    }
    let manifest = try Manifest(selfSigned: bytes)
    let checkpoint = try Checkpoint(try SignedNote(note).verify([manifest.key]))
    guard checkpoint.origin == manifest.origin.name else {
      throw FetchFailure(
        .originMismatch, "the site's checkpoint is that of \(checkpoint.origin)")
    }
    return checkpoint
  }

  private static func check(
    _ signed: Checkpoint, against site: Checkpoint?, _ directory: SiteDirectory
  ) throws(FetchFailure) {
    let recover = "rebuild the site with 'fetchres publish --recover URL --site \(directory.path)'"
    guard let site else {
      throw FetchFailure(
        .rollback,
        "this key has signed \(signed.size) releases, and the site \(directory.path) has none",
        hint: recover)
    }
    guard site.size >= signed.size else {
      throw FetchFailure(
        .rollback,
        "this key has signed \(signed.size) releases, and the site \(directory.path) has only "
          + "\(site.size): it looks like a restored back-up", hint: recover)
    }
    guard site.size > signed.size || site.root == signed.root else {
      throw FetchFailure(
        .fork, "the site \(directory.path) holds another history than the one this key signed",
        hint: recover)
    }
    guard site.size > signed.size else { return }
    // The key was used elsewhere: its longer history has to be an extension of what it signed here.
    var tree = try AuthenticatedTree(count: site.size, root: site.root)
    try SiteTiles(directory).authenticate(&tree, leaves: signed.size - 1..<signed.size)
    try SiteTiles(directory).authenticate(&tree, leaves: site.size - 1..<site.size)
    let proof = ConsistencyProof.make(size1: signed.size, shape: tree.shape) { level, index in
      tree.node(level: level, index: index)
    }
    try ConsistencyProof.verify(
      size1: signed.size, root1: signed.root.bytes, size2: site.size, root2: site.root.bytes,
      proof: proof.map(\.bytes))
  }
}

/// Brings tiles of the release log on disk into an authenticated tree.
struct SiteTiles {
  let site: SiteDirectory

  init(_ site: SiteDirectory) { self.site = site }

  func authenticate(
    _ tree: inout AuthenticatedTree, leaves: Range<Int64>, of version: String? = nil
  ) throws(FetchFailure) {
    var edge: [SuspectTile] = []
    for address in tree.missingTiles(for: leaves) {
      guard let tile = try site.tile(address, of: version) else {
        throw FetchFailure(.tileInvalid, "\(address.path) is missing in \(site.path)")
      }
      if address.isFull {
        try authenticateEdge(&tree, &edge)
        try tree.authenticate(tile)
      } else {
        edge.append(tile)
      }
    }
    try authenticateEdge(&tree, &edge)
  }

  private func authenticateEdge(
    _ tree: inout AuthenticatedTree, _ edge: inout [SuspectTile]
  ) throws(FetchFailure) {
    guard !edge.isEmpty else { return }
    try tree.authenticate(edge: edge)
    edge = []
  }
}
