import Failure
import Manifest
import MerkleTree
import SignedNote
import Storage

/// What a site and its keys have signed so far.
struct History {
  /// The verified head of the site's log; nil for a site without one.
  let checkpoint: Checkpoint?
  /// Sentences for the user about records that are not as a single machine leaves them.
  let remarks: [String]
  /// What becomes the head of keys that have none: a checkpoint that each of them signed.
  private let adopted: [(keyFile: String, note: [UInt8])]

  /// Without a head, only a checkpoint that the key itself signed says what it signed: the key that the
  /// site names may be that of whoever wrote the site.
  ///
  /// - Parameter takesOver: whether a key without a head may go on with a log that it never signed.
  /// - Throws: `rollback` where the site is older than what the key signed, `fork` where it is another
  ///   history, `unknown-key` where nothing says what the key signed.
  init(
    _ site: SiteDirectory, _ keys: [KeyFile], takesOver: Bool, _ fileSystem: any FileSystem
  ) throws(FetchFailure) {
    let note = try site.read(SitePaths.checkpoint, limit: Checkpoint.maximumByteCount)
    let served = try note.map { note throws(FetchFailure) in try Self.siteCheckpoint(note, site) }
    let checkpoint = served?.checkpoint
    self.checkpoint = checkpoint
    var remarks: [String] = []
    var adopted: [(keyFile: String, note: [UInt8])] = []
    for file in keys {
      let isOwn = try served.map { served throws(FetchFailure) in
        try Self.isSigned(served.note, by: file.key.key)
      }
      let head = try KeyHead(keyFile: file.path).read(fileSystem)
      guard let head else {
        guard let served else { continue }
        if isOwn == true {
          adopted.append((file.path, served.note.bytes))
          continue
        }
        guard takesOver else { throw Self.unrecorded(file, served.key, site) }
        remarks.append(Self.takeOver(file, served.checkpoint, served.key))
        continue
      }
      let signed = try Checkpoint(try SignedNote(head).verify([file.key.key]))
      try Self.check(signed, against: checkpoint, site)
      if let served, signed.size == 0, isOwn == false {
        remarks.append(Self.takeOver(file, served.checkpoint, served.key))
      } else if let checkpoint, checkpoint.size > signed.size {
        remarks.append(
          "the site has \(checkpoint.size - signed.size) releases more than the record of "
            + "\(file.path) knows: they were signed on another machine, and extend what it signed here"
        )
      }
    }
    (self.remarks, self.adopted) = (remarks, adopted)
  }

  /// Makes the site's checkpoint the head of those keys that have none and signed it, durable before it
  /// is said. Requires that the log of the site was verified.
  func adopt(_ fileSystem: any FileSystem, _ report: (String) -> Void) throws(FetchFailure) {
    for (keyFile, note) in adopted {
      try KeyHead(keyFile: keyFile).write(note, fileSystem)
      report(KeyHead.adoption(keyFile))
    }
  }

  private static func isSigned(
    _ note: SignedNote, by key: NoteKey
  ) throws(FetchFailure) -> Bool {
    do throws(FetchFailure) { _ = try note.verify([key]) } catch {
      guard error.category == .unknownKey else { throw error }
      return false
    }
    return true
  }

  private static func unrecorded(
    _ file: KeyFile, _ other: NoteKey, _ site: SiteDirectory
  ) -> FetchFailure {
    FetchFailure(
      .unknownKey,
      "\(file.path) has no record of what it signed, and the log of \(site.path) is not signed by "
        + "it, but by \(other)",
      hint: "put \(file.path).head back, which keygen wrote and every publish renews; if this key "
        + "never signed anything, --force-unannounced-key goes on without it")
  }

  private static func takeOver(
    _ file: KeyFile, _ checkpoint: Checkpoint, _ other: NoteKey
  ) -> String {
    "\(file.path) signs this log for the first time, and goes on behind release "
      + "\(checkpoint.size - 1) by \(other)"
  }

  /// The checkpoint of the site, under the key that its newest manifest names.
  private static func siteCheckpoint(
    _ note: [UInt8], _ site: SiteDirectory
  ) throws(FetchFailure) -> (checkpoint: Checkpoint, note: SignedNote, key: NoteKey) {
    guard let bytes = try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount) else {
      throw FetchFailure(
        .ioError, "the site \(site.path) has a checkpoint and no manifest",
        hint: "rebuild it with 'fetchres publish --recover URL --site \(site.path)'")
    }
    let manifest = try Manifest(selfSigned: bytes)
    let note = try SignedNote(note)
    let checkpoint = try Checkpoint(try note.verify([manifest.key]))
    guard checkpoint.origin == manifest.origin else {
      throw FetchFailure(
        .originMismatch, "the site's checkpoint is that of \(checkpoint.origin)")
    }
    return (checkpoint, note, manifest.key)
  }

  private static func check(
    _ signed: Checkpoint, against site: Checkpoint?, _ directory: SiteDirectory
  ) throws(FetchFailure) {
    // Every log extends the empty one.
    guard signed.size > 0 else { return }
    let recover = "rebuild the site with 'fetchres publish --recover URL --site \(directory.path)'"
    guard let site else {
      throw FetchFailure(
        .rollback,
        "this key has signed \(signed.size) releases, and the site \(directory.path) has none: "
          + "the site is lost, or this is another one", hint: recover)
    }
    guard site.size >= signed.size else {
      throw FetchFailure(
        .rollback,
        "this key has signed \(signed.size) releases, and the site \(directory.path) has only "
          + "\(site.size): it looks like a restored back-up", hint: recover)
    }
    guard site.size > signed.size || site.root == signed.root else {
      throw FetchFailure(
        .fork,
        "the site \(directory.path) holds another history than the one this key signed: "
          + "the key was used on two machines that did not know of each other, or the site was mixed up",
        hint: recover)
    }
    guard site.size > signed.size else { return }
    // The key was used elsewhere: its longer history has to be an extension of what it signed here.
    var tree = try AuthenticatedTree(count: site.size, root: site.root)
    let proof = try tree.consistencyProof(from: signed.size) { tile throws(FetchFailure) in
      try directory.presentTile(tile)
    }
    try ConsistencyProof.verify(
      size1: signed.size, root1: signed.root.bytes, size2: site.size, root2: site.root.bytes,
      proof: proof.map(\.bytes))
  }
}
