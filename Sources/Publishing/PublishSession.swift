import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote
import Storage
import System

/// A site that is locked, whose interrupted transaction is completed, and whose history is that of the
/// keys: the ground on which a release is signed.
struct PublishSession {
  let site: SiteDirectory
  let lock: SiteLock
  let keys: [KeyFile]
  let history: History
  let newest: Manifest?
  /// Whether an interrupted publish was completed first.
  let hasCompleted: Bool
  private let fileSystem: any FileSystem
  private let now: UTCDate

  /// What a release is signed with.
  struct Terms: Sendable {
    /// The public key that will follow; nil keeps what was announced.
    var nextKey: NoteKey?
    var expires: UTCDate?
    var forcesUnannouncedKey = false
    var clockWasWrong = false
  }

  /// - Parameter takesOver: whether a key without a record may go on with a log that it never signed.
  /// - Throws: `locked`, `usage`, `origin-mismatch`, `rollback`, `fork`, `unknown-key`.
  init(
    _ publisher: Publisher, site path: String, keyFiles: [String], makes: Bool, takesOver: Bool
  ) throws(FetchFailure) {
    fileSystem = publisher.fileSystem
    now = publisher.now()
    var keys: [KeyFile] = []
    for path in keyFiles {
      keys.append(try KeyFile(path, fileSystem, passwords: publisher.passwords))
    }
    guard let first = keys.first else {
      throw FetchFailure(.usage, "a release has to be signed", hint: "name a key file with --key")
    }
    guard let origin = first.key.key.origin, keys.allSatisfy({ $0.key.key.origin == origin }) else {
      throw FetchFailure(.usage, "the keys are not of one origin")
    }
    guard Set(keys.map(\.key.key)).count == keys.count else {
      throw FetchFailure(.usage, "a key is given twice")
    }
    self.keys = keys

    site = try SiteDirectory(path, fileSystem, makes: makes)
    lock = try site.lock()
    hasCompleted = try publisher.finishPending(site, lock, keyFiles: keyFiles)
    for key in keys { try key.lock() }
    newest = try Self.newestManifest(site, origin)
    history = try History(site, keys, takesOver: takesOver, fileSystem)
    for remark in history.remarks { publisher.report(remark) }
    try checkNewest()
    // A log that cannot be continued is said before anything is hashed.
    _ = try LogWriter(site, history.checkpoint)
    try history.adopt(fileSystem, publisher.report)
  }

  var key: NoteKey { keys[0].key.key }

  private static func newestManifest(
    _ site: SiteDirectory, _ origin: Origin
  ) throws(FetchFailure) -> Manifest? {
    guard let bytes = try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount) else {
      return nil
    }
    let manifest = try Manifest(selfSigned: bytes)
    guard manifest.origin == origin else {
      throw FetchFailure(
        .originMismatch,
        "the site is that of \(manifest.origin), and the key is for \(origin)",
        hint: "publish another resource to another site")
    }
    return manifest
  }

  /// The manifest that is served has to be the last entry of the log: what follows builds on both.
  private func checkNewest() throws(FetchFailure) {
    let served = try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount)
    guard served != nil || history.checkpoint != nil else { return }
    guard let checkpoint = history.checkpoint, checkpoint.size > 0,
      try site.logEntry(checkpoint.size - 1, of: checkpoint.size) == served
    else {
      throw FetchFailure(
        .notLogged, "the manifest of \(site.path) is not the last entry of its release log",
        hint: "the site was mixed up: rebuild it with "
          + "'fetchres publish --recover URL --site \(site.path)'")
    }
  }

  // MARK: The next release

  /// The manifest of the next release over this content.
  ///
  /// - Throws: `usage` for a clock or an expiry that cannot be, `key-change`.
  func manifest(
    version: String, file: String, layout: BlockLayout, root: Digest, mirrors: [String],
    extensions: [Manifest.Extension] = [], _ terms: Terms
  ) throws(FetchFailure) -> Manifest {
    if let newest, now < newest.published, !terms.clockWasWrong {
      throw FetchFailure(
        .usage,
        "the local clock says \(now.text), and the last release was published at "
          + newest.published.text,
        hint: "set the clock; if it was wrong then, and is right now: --clock-was-wrong")
    }
    if let expires = terms.expires, expires <= now {
      throw FetchFailure(.usage, "the release would expire before it is published")
    }
    let release = history.checkpoint?.size ?? 0
    let (since, nextKey) = try succession(release: release, terms)
    return Manifest(
      origin: keys[0].key.key.origin!, version: version, release: release, layout: layout,
      root: root, file: file, published: now, expires: terms.expires, key: key, since: since,
      nextKey: nextKey, mirrors: mirrors, extensions: extensions)
  }

  /// Since when the key signs, and which one it announces: kept as long as the key is.
  private func succession(
    release: Int64, _ terms: Terms
  ) throws(FetchFailure) -> (since: Int64, nextKey: Digest?) {
    let given = terms.nextKey.map { SHA256.digest(Array($0.description.utf8)) }
    if let next = terms.nextKey, next.origin != key.origin || next == key {
      throw FetchFailure(.usage, "the next key has to be another key of \(key.name)")
    }
    guard let newest else { return (release, given) }
    if newest.key == key {
      guard given == nil || given == newest.nextKey else {
        throw FetchFailure(
          .keyChange, "the next key of \(key.name) was announced differently before",
          hint: "an announcement, or that there is none, stays the same as long as the key does")
      }
      return (newest.since, newest.nextKey)
    }
    let isAnnounced = newest.nextKey == SHA256.digest(Array(key.description.utf8))
    guard isAnnounced || terms.forcesUnannouncedKey else {
      throw FetchFailure(
        .keyChange, "the site was signed by \(newest.key), which never announced this key",
        hint: "clients will refuse it until they trust it by hand; "
          + "--force-unannounced-key signs all the same")
    }
    return (release, given)
  }

  /// Signs the manifest, and says what its release changes. Nothing that is served has changed then.
  ///
  /// - Parameters:
  ///   - appears: whether its release directory is new, and built under its temporary name.
  ///   - holds: whether the checkpoint waits for cosignatures.
  func transaction(
    _ manifest: Manifest, appears: Bool, holds: Bool = false
  ) throws(FetchFailure) -> SiteTransaction {
    let note = SignedNote.sign(text: manifest.text, keys: keys.map(\.key))
    guard note.count <= Manifest.maximumByteCount else {
      throw FetchFailure(
        .usage, "the manifest would have \(note.count) bytes; that is too many",
        hint: "name fewer mirrors")
    }
    var log = try LogWriter(site, history.checkpoint)
    let (files, root) = log.append(note)
    let checkpoint = Checkpoint(origin: manifest.origin, size: log.size, root: root)
    let signed = SignedNote.sign(text: checkpoint.text, keys: keys.map(\.key))

    var steps: [SiteTransaction.Step] = keys.map {
      .head(key: $0.key.key, path: KeyHead(keyFile: $0.path).path, bytes: signed)
    }
    if appears {
      // The manifest of a version appears with the version.
      try doing("cannot build the release in \(site.path)") { () throws(SystemError) in
        try site.locate(ReleaseBuilder.manifestPath(manifest.version))?.0.replaceFile(
          SitePaths.manifest, note)
      }
      steps.append(.release(version: manifest.version))
    }
    for file in files where try site.read(file.path, limit: SiteDirectory.fileLimit) != file.bytes {
      steps.append(.immutable(path: file.path, bytes: file.bytes))
    }
    if holds { steps.append(.hold) }
    steps.append(.mutable(path: SitePaths.checkpoint, bytes: signed))
    if !appears {
      steps.append(.mutable(path: SitePaths.releaseManifest(manifest.version), bytes: note))
    }
    steps.append(.mutable(path: SitePaths.manifest, bytes: note))
    let transaction = SiteTransaction(steps: steps)
    try transaction.check(site, fileSystem)
    return transaction
  }

  /// Puts all of it into place. From the first step on it will be completed, by whoever publishes
  /// next if not by this run.
  func perform(_ transaction: SiteTransaction) throws(FetchFailure) {
    try transaction.stage(lock)
    // Their locks are held until the records are renewed.
    try withExtendedLifetime(keys) { () throws(FetchFailure) in
      _ = try transaction.complete(site, lock, fileSystem)
    }
  }
}
