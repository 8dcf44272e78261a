import Failure
import Manifest
import SignedNote
import Storage
import System

/// The records of the keys, which lie outside of the site. Who can write in the site, or made the
/// mirror that it was restored from, can write a transaction too: it must not reach another file.
extension SiteTransaction {
  /// Why the records of the keys must not be written: `bad-signature` where they are none. Nil if
  /// they may.
  func headRefusal(
    _ site: SiteDirectory, _ fileSystem: any FileSystem
  ) throws(FetchFailure) -> FetchFailure? {
    guard let manifest = stagedManifest else {
      return Self.notOurs("it has no signed manifest", site)
    }
    for case .head(let key, let path, let bytes) in steps {
      guard KeyHead.isPath(path),
        KeyHead.checkpoint(bytes, by: [key, manifest.key]) != nil
      else { return Self.notAHead(path, site) }
      guard let kept = try KeyHead(path: path).read(fileSystem) else { continue }
      guard KeyHead.checkpoint(kept, by: [key]) != nil else { return Self.notAHead(path, site) }
    }
    return nil
  }

  /// The manifest that it puts into place; nil if it is none.
  var stagedManifest: Manifest? {
    bytes(at: SitePaths.manifest).flatMap { try? Manifest(selfSigned: $0) }
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
}
