import Failure
import Manifest
import SignedNote
import Storage
import System

/// A publish whose checkpoint waits for the cosignatures of witnesses. Release and log tiles are in
/// place, so that witnesses can check them; what clients look at first is not.
extension SiteTransaction {
  /// The signed checkpoint that waits; nil if none does.
  var heldCheckpoint: [UInt8]? { steps.contains(.hold) ? checkpoint : nil }

  private var checkpoint: [UInt8]? { bytes(at: SitePaths.checkpoint) }

  func bytes(at wanted: String) -> [UInt8]? {
    for case .mutable(let path, let bytes) in steps where path == wanted { return bytes }
    return nil
  }

  static func held(_ site: String) -> FetchFailure {
    FetchFailure(
      .usage, "the checkpoint of the last publish to \(site) is held, and nothing can follow it",
      hint: "'fetchres publish --release-checkpoint FILE --site \(site)' serves it, with its "
        + "cosignatures; 'fetchres publish --refresh --hold-checkpoint --site \(site) --key FILE' "
        + "prints it again")
  }

  /// The whole transaction with the checkpoint that was released; nil while none was.
  func released(_ lock: SiteLock) throws(FetchFailure) -> SiteTransaction? {
    let note: [UInt8]? = try doing("cannot read the released checkpoint") {
      () throws(SystemError) in
      guard try lock.own.statusIfPresent(Self.releasedName) != nil else { return nil }
      return try lock.own.readFile(Self.releasedName, limit: Checkpoint.maximumByteCount)
    }
    guard let note else { return nil }
    return SiteTransaction(
      steps: steps.compactMap { step in
        switch step {
        case .hold: nil
        case .mutable(SitePaths.checkpoint, _): .mutable(path: SitePaths.checkpoint, bytes: note)
        case .head, .release, .immutable, .mutable: step
        }
      })
  }

  /// Takes the cosigned checkpoint: from then on the transaction will be completed with it.
  ///
  /// - Throws: `usage` unless it is the one that is held, with every signature that it had.
  func release(_ note: [UInt8], _ lock: SiteLock) throws(FetchFailure) {
    guard let held = heldCheckpoint, let manifest = bytes(at: SitePaths.manifest) else {
      throw FetchFailure(.usage, "no checkpoint is held")
    }
    let key = try Manifest(selfSigned: manifest).key
    let ours = try SignedNote(held).verify([key])
    let theirs: VerifiedNote
    do throws(FetchFailure) { theirs = try SignedNote(note).verify([key]) } catch {
      throw FetchFailure(.usage, "that is not the checkpoint that is held: \(error.message)")
    }
    guard theirs.text == ours.text,
      ours.note.signatures.allSatisfy({ theirs.note.signatures.contains($0) })
    else {
      throw FetchFailure(
        .usage, "that is not the checkpoint that is held",
        hint: "it has to have the same text and all of its signatures, and may have more")
    }
    try doing("cannot keep the released checkpoint") { () throws(SystemError) in
      try lock.own.replaceFile(Self.releasedName, note, permissions: 0o600)
    }
  }
}

extension Publisher {
  /// Serves the checkpoint that a publish held, with its cosignatures, and what comes behind it.
  ///
  /// - Parameter keyFiles: where the records of keys go whose directory is gone.
  /// - Returns: the manifest of the release.
  package func release(
    checkpoint note: [UInt8], site path: String, keyFiles: [String] = []
  ) throws(FetchFailure) -> Manifest {
    let site = try SiteDirectory(path, fileSystem, makes: false)
    let lock = try site.lock()
    guard
      let pending = try SiteTransaction.pending(lock)?
        .relocated(to: keyFiles, fileSystem, passwords)
    else {
      throw FetchFailure(
        .usage, "no checkpoint is held in \(path)",
        hint: "'fetchres publish … --hold-checkpoint' holds one")
    }
    try pending.release(note, lock)
    let keys = try pending.lockKeys(fileSystem)
    defer { withExtendedLifetime(keys) {} }
    guard try pending.complete(site, lock, fileSystem) else {
      throw FetchFailure(.ioError, "the released checkpoint cannot be read back")
    }
    guard let bytes = try site.read(SitePaths.manifest, limit: Manifest.maximumByteCount) else {
      throw FetchFailure(.ioError, "\(path) has no manifest")
    }
    return try Manifest(selfSigned: bytes)
  }
}
