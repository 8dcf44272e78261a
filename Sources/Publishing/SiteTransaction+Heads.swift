import Crypto
import Failure
import Manifest
import SignedNote
import Storage
import System

/// The records of the keys, which lie outside of the site. Who can write in the site, or made the
/// mirror that it was restored from, can write a transaction too: it must neither reach another file
/// nor make a key forget what it signed.
extension SiteTransaction {
  /// Why the records of the keys must not be written: `bad-signature` where they are none,
  /// `rollback` and `fork` where the keys have signed something else since. Nil if they may.
  func headRefusal(
    _ site: SiteDirectory, _ fileSystem: any FileSystem
  ) throws(FetchFailure) -> FetchFailure? {
    guard let manifest = stagedManifest else {
      return Self.notOurs("it has no signed manifest", site)
    }
    for case .head(let key, let path, let bytes) in steps {
      guard KeyHead.isPath(path),
        let next = KeyHead.checkpoint(bytes, by: [key, manifest.key])
      else { return Self.notAHead(path, site) }
      guard let kept = try KeyHead(path: path).read(fileSystem) else { continue }
      guard let there = KeyHead.checkpoint(kept, by: [key]) else {
        return Self.notAHead(path, site)
      }
      if next.size < there.size {
        return Self.passed(
          .rollback, "the key has signed \(there.size) releases by now, and it has \(next.size)",
          path, site)
      }
      if next.size == there.size, next.root != there.root {
        return Self.passed(.fork, "the key has signed another release \(next.size - 1)", path, site)
      }
    }
    return nil
  }

  /// The manifest that it puts into place; nil if it is none.
  var stagedManifest: Manifest? {
    bytes(at: SitePaths.manifest).flatMap { try? Manifest(selfSigned: $0) }
  }

  /// The same with the records of keys whose directory is gone beside the files of these keys.
  ///
  /// - Throws: `usage` if the key of such a record is not among them.
  func relocated(
    to keyFiles: [String], _ fileSystem: any FileSystem, _ passwords: PasswordSource
  ) throws(FetchFailure) -> SiteTransaction {
    var steps = steps
    for (number, step) in steps.enumerated() {
      guard case .head(let key, let path, let bytes) = step, KeyHead.isPath(path),
        try KeyHead(path: path).isLost(fileSystem)
      else { continue }
      var place: KeyHead?
      for keyFile in keyFiles
      where try KeyFile(keyFile, fileSystem, passwords: passwords).key.key == key {
        place = KeyHead(keyFile: keyFile)
      }
      guard let place else {
        throw FetchFailure(
          .usage,
          "an interrupted publish cannot be completed: \(path) goes into a directory that is gone",
          hint: "put it back, or give the key \(key) from where it is now, with --key")
      }
      steps[number] = .head(key: key, path: place.path, bytes: bytes)
    }
    return SiteTransaction(steps: steps)
  }

  /// Keeps others from signing with the keys whose records an unfinished publish renews.
  ///
  /// - Returns: what holds the locks.
  func lockKeys(_ fileSystem: any FileSystem) throws(FetchFailure) -> [any File] {
    var files: [any File] = []
    for case .head(_, let path, _) in steps where KeyHead.isPath(path) {
      let keyFile = String(path.dropLast(KeyHead.suffix.count))
      // The key may be kept elsewhere by now.
      guard let file = try? fileSystem.openFile(keyFile) else { continue }
      try KeyFile.lock(file, keyFile)
      files.append(file)
    }
    return files
  }

  private static func notAHead(_ path: String, _ site: SiteDirectory) -> FetchFailure {
    notOurs("\(path) is no record of the key that it names, and would not become one", site)
  }

  private static func notOurs(_ what: String, _ site: SiteDirectory) -> FetchFailure {
    FetchFailure(
      .badSignature,
      "the record of an unfinished publish in \(Path.join(site.path, SiteDirectory.privateName)) is "
        + "not one of ours: \(what)",
      hint: "nothing was changed; find out who wrote it; 'fetchres publish --abandon --site "
        + "\(site.path)' forgets it, and so does --recover URL")
  }

  private static func passed(
    _ category: FailureCategory, _ what: String, _ path: String, _ site: SiteDirectory
  ) -> FetchFailure {
    FetchFailure(
      category,
      "the unfinished publish in \(site.path) was passed by: \(what), says \(path)",
      hint:
        "it looks like a restored back-up: 'fetchres publish --recover URL --site \(site.path)' "
        + "forgets it and rebuilds the site")
  }
}
