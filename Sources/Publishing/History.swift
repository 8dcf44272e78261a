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

  /// - Throws: `rollback` where the site is older than what the key signed, `fork` where it is another
  ///   history, `unknown-key` where the key never signed the site.
  init(
    _ site: SiteDirectory, _ keys: [KeyFile], _ fileSystem: any FileSystem
  ) throws(FetchFailure) {
    let note = try site.read(SitePaths.checkpoint, limit: Checkpoint.maximumByteCount)
    var checkpoint: Checkpoint?
    if let note { checkpoint = try Self.siteCheckpoint(note, site) }
    self.checkpoint = checkpoint
    var remarks: [String] = []
    for file in keys {
      guard let head = try KeyHead(keyFile: file.path).read(fileSystem) else {
        if checkpoint != nil {
          remarks.append(
            "\(file.path) has no record yet: the site's checkpoint becomes its head, "
              + "which protects from now on")
        }
        continue
      }
      let signed = try Checkpoint(try SignedNote(head).verify([file.key.key]))
      try Self.check(signed, against: checkpoint, site)
      if let checkpoint, checkpoint.size > signed.size {
        remarks.append(
          "the site has \(checkpoint.size - signed.size) releases more than the record of "
            + "\(file.path) knows: they were signed on another machine, and extend what it signed here"
        )
      }
    }
    self.remarks = remarks
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
    guard checkpoint.origin == manifest.origin else {
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
