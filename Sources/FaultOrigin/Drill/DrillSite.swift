import Failure
import System

/// A resource to pull: the site that is served, what its releases really hold, and what an origin may
/// serve instead.
struct DrillSite: Sendable {
  struct Release: Sendable {
    var version: String
    var file: String
    var size: Int64
    var blockSize: Int64
    /// The file as it was published.
    var source: String

    var blocks: Int64 { blockSize > 0 ? (size + blockSize - 1) / blockSize : 0 }
  }

  /// The directory that is served.
  var path: String
  var key: String
  /// By version.
  var releases: [String: Release]
  var newest: Release
  /// A directory for each fault that serves files from another one; empty for a site that was not
  /// made here.
  var alternatives: [Fault: String] = [:]

  // MARK: A site that is there

  /// Reads a site as it is on disk.
  init(reading path: String) throws(FetchFailure) {
    func release(_ manifest: String) throws(FetchFailure) -> (Release, key: String?) {
      let bytes = try doing("cannot read \(manifest)") { () throws(SystemError) in
        try PlainDisk.read(manifest, limit: 65_536)
      }
      guard let note = WireNote(bytes), let version = note.value("version"),
        let file = note.value("file"), let size = note.value("size").flatMap({ Int64($0) }),
        let blockSize = note.value("block-size").flatMap({ Int64($0) }), size >= 0, blockSize > 0
      else {
        throw FetchFailure(
          .usage, "\(manifest) is no manifest", hint: "name the directory that publish writes")
      }
      let source = Path.join(path, "releases/\(version)/\(file)")
      return (
        Release(version: version, file: file, size: size, blockSize: blockSize, source: source),
        note.value("key")
      )
    }
    let (newest, key) = try release(Path.join(path, "manifest"))
    guard let key else {
      throw FetchFailure(.usage, "the manifest of \(path) names no key")
    }
    var releases: [String: Release] = [:]
    for version in PlainDisk.names(Path.join(path, "releases")) {
      let (found, _) = try release(Path.join(path, "releases/\(version)/manifest"))
      releases[version] = found
    }
    (self.path, self.key, self.releases, self.newest) = (path, key, releases, newest)
  }
}
