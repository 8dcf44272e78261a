import Crypto
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote

/// Makes the site of a version that was refreshed very often, without publishing it each time.
package struct LongLog {
  package let count: Int64
  /// The small files of the site, by path.
  package private(set) var files: [String: [UInt8]] = [:]

  /// - Parameters:
  ///   - first: the manifest of the first release, whose version is refreshed.
  ///   - key: signs everything.
  package init(_ first: Manifest, key: SigningKey, count: Int64) {
    self.count = count
    var manifest = first
    var note: [UInt8] = []
    var builder = TreeBuilder()
    var hasher = TreeHasher()
    var entries: [[UInt8]] = []
    var files: [String: [UInt8]] = [:]
    func closeBundle() {
      let index = (builder.count - 1) / Int64(Tile.width)
      files[TileAddress.entriesPath(index: index, width: entries.count)] =
        EntryBundle(entries: entries).bytes
      entries = []
    }
    for release in 0..<count {
      manifest.release = release
      note = SignedNote.sign(text: manifest.text, keys: [key])
      builder.append(hasher.leaf(note)) { files[$0.path] = $1 }
      entries.append(note)
      if entries.count == Tile.width { closeBundle() }
    }
    if !entries.isEmpty { closeBundle() }
    let root = builder.finish { files[$0.path] = $1 }
    let checkpoint = Checkpoint(origin: manifest.origin, size: count, root: root)
    files[SitePaths.checkpoint] = SignedNote.sign(text: checkpoint.text, keys: [key])
    files[SitePaths.manifest] = note
    files[SitePaths.releaseManifest(manifest.version)] = note
    self.files = files
  }
}
