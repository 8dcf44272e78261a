import Crypto
import Failure
import ReleaseLog
import SignedNote
import Storage
import System
import Transport

/// Where this program keeps its own records: `--state-dir`, else ``StatePlace/standard``.
struct StateDirectory: Sendable {
  let path: String
  let fileSystem: any FileSystem

  init(_ chosen: String?, _ fileSystem: any FileSystem) throws(FetchFailure) {
    self.fileSystem = fileSystem
    guard let path = chosen ?? StatePlace.standard?.path else {
      throw FetchFailure(
        .usage, "there is no place for the state: HOME and XDG_STATE_HOME are not set",
        hint: "name one with --state-dir")
    }
    self.path = path
  }

  /// What is kept of an origin's release log.
  func log(of origin: Origin) -> LogStore { LogStore(origin, below: path, fileSystem) }

  /// The origins of whose logs something is kept.
  var logOrigins: [Origin] { LogStore.origins(below: path, fileSystem) }

  /// The base URLs that an origin was pulled from.
  func bases(of origin: Origin) -> [WebURL] {
    guard let sites = try? fileSystem.openDirectory(Path.join(path, "sites")) else { return [] }
    return ((try? sites.entries()) ?? []).sorted().compactMap { name in
      guard let bytes = try? sites.readFile(name, limit: 16_384) else { return nil }
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      guard lines.count == 3, lines[0] == "origin \(origin)", lines[2].hasPrefix("url ") else {
        return nil
      }
      return try? WebURL(String(lines[2].dropFirst(4)))
    }
  }

  /// What is kept of sources that failed.
  var sources: RetryRecords { RetryRecords(Path.join(path, "sources"), fileSystem) }

  var trust: TrustStore { TrustStore(below: path, fileSystem) }

  /// What is remembered of a base URL.
  struct Site: Sendable, Equatable {
    var origin: Origin
    var directory: String
  }

  private static func recordName(_ base: WebURL) -> String {
    SHA256.digest(Array(base.shown.utf8)).description
  }

  func site(of base: WebURL) -> Site? {
    guard let directory = try? fileSystem.openDirectory(Path.join(path, "sites")),
      let bytes = try? directory.readFile(Self.recordName(base), limit: 16_384)
    else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 4, lines[0].hasPrefix("origin "), lines[1].hasPrefix("directory "),
      let origin = Origin(lines[0].dropFirst(7))
    else { return nil }
    return Site(origin: origin, directory: String(lines[1].dropFirst(10)))
  }

  /// Remembers it. A state that cannot be written costs a convenience, never a download.
  func remember(_ site: Site, of base: WebURL) {
    guard self.site(of: base) != site, !site.directory.utf8.contains(UInt8(ascii: "\n")) else {
      return
    }
    let text = "origin \(site.origin)\ndirectory \(site.directory)\nurl \(base.shown)\n"
    let sites = Path.join(path, "sites")
    try? fileSystem.makeDirectories(sites, permissions: 0o700)
    try? fileSystem.openDirectory(sites).replaceFile(
      Self.recordName(base), Array(text.utf8), permissions: 0o600)
  }
}
