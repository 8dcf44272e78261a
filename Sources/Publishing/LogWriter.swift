import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote

/// Appends to the release log of a site: reads what it needs of it, verified, and says which files
/// the longer log adds. Works on the right edge alone, so its cost does not grow with the log.
struct LogWriter: ~Copyable {
  private let site: SiteDirectory
  private var builder: TreeBuilder
  private var lastEntries: [[UInt8]]

  /// A file that belongs into the site and never changes once it is there.
  struct NewFile: Sendable, Equatable {
    var path: String
    var bytes: [UInt8]
  }

  /// - Parameter checkpoint: the verified head of the log; nil for a log that does not exist yet.
  /// - Throws: `tile-invalid` if tiles or the last bundle are not those of the checkpoint.
  init(_ site: SiteDirectory, _ checkpoint: Checkpoint?) throws(FetchFailure) {
    self.site = site
    builder = TreeBuilder()
    lastEntries = []
    guard let checkpoint, checkpoint.size > 0 else { return }
    var tree = try AuthenticatedTree(count: checkpoint.size, root: checkpoint.root)
    var edge: [SuspectTile] = []
    for address in tree.shape.edge { edge.append(try site.presentTile(address)) }
    try tree.authenticate(edge: edge)
    builder = tree.builder()

    let width = Int(checkpoint.size % Int64(Tile.width))
    guard width > 0 else { return }
    let index = checkpoint.size / Int64(Tile.width)
    let path = TileAddress.entriesPath(index: index, width: width)
    guard let bytes = try site.read(path, limit: EntryBundle.maximumByteCount) else {
      throw FetchFailure(.tileInvalid, "\(path) of the release log is missing in \(site.path)")
    }
    lastEntries = try EntryBundle(bytes, width: width).entries
    let first = index * Int64(Tile.width)
    guard let leaves = tree.provenLeaves(first..<checkpoint.size) else {
      preconditionFailure("Publishing: the edge proves its leaves")
    }
    var hasher = TreeHasher()
    for (offset, entry) in lastEntries.enumerated() {
      guard hasher.leaf(entry) == leaves[first + Int64(offset)] else {
        throw FetchFailure(
          .tileInvalid, "\(path) does not hold the entries that the release log signed")
      }
    }
  }

  var size: Int64 { builder.count }

  /// Adds an entry.
  ///
  /// - Returns: the files that the longer log adds, and its root.
  mutating func append(_ entry: [UInt8]) -> (files: [NewFile], root: Digest) {
    let index = builder.count / Int64(Tile.width)
    lastEntries.append(entry)
    var files: [NewFile] = [
      NewFile(
        path: TileAddress.entriesPath(index: index, width: lastEntries.count),
        bytes: EntryBundle(entries: lastEntries).bytes)
    ]
    if lastEntries.count == Tile.width { lastEntries = [] }
    var hasher = TreeHasher()
    builder.append(hasher.leaf(entry)) { tile, bytes in
      files.append(NewFile(path: tile.path, bytes: bytes))
    }
    // Partial tiles that were there before are written again with the same bytes: no harm.
    let root = builder.finish { tile, bytes in
      files.append(NewFile(path: tile.path, bytes: bytes))
    }
    return (files, root)
  }
}
