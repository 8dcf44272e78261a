import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote
import Storage
import System
import TestSupport
import Testing

@testable import Download

/// A release with its content, its note and everything that proves its blocks.
final class MadeResource: Sendable {
  let content: [UInt8]
  let note: [UInt8]
  let manifest: Manifest
  let tiles: [TileAddress: [UInt8]]

  private static let origin = Origin("maps.example.com/world")!

  /// Pages of random bytes, one of them all zeros, and a short last block.
  static let standard: MadeResource = {
    do { return try MadeResource("1.0", release: 0, seed: 1) } catch {
      fatalError("DownloadTests: no resource can be made: \(error)")
    }
  }()

  init(
    _ version: String, release: Int64, seed: UInt64, blockSize: Int64 = 4_096, size: Int = 18_000,
    key: SigningKey = SigningKey.generate(MadeResource.origin)
  ) throws {
    var random = SeededGenerator(seed: seed)
    var content: [UInt8] = []
    content.reserveCapacity(size + 8)
    while content.count < size {
      withUnsafeBytes(of: random.next()) { content.append(contentsOf: $0) }
    }
    content.removeLast(content.count - size)
    if size >= 3 * Int(blockSize) {
      for index in Int(blockSize)..<2 * Int(blockSize) { content[index] = 0 }
    }
    self.content = content
    let layout = try #require(BlockLayout(size: Int64(size), blockSize: blockSize))
    let leaves = (0..<layout.count).map { block in
      let bytes = layout.bytes(of: block..<block + 1)
      return SHA256.digest([0] + content[Int(bytes.lowerBound)..<Int(bytes.upperBound)])
    }
    let tree = MadeTree(leaves: leaves)
    tiles = tree.tiles
    manifest = Manifest(
      origin: Self.origin, version: version, release: release, layout: layout, root: tree.root,
      file: "world.map", published: UTCDate(seconds: 1_800_000_000), key: key.key, since: 0)
    note = SignedNote.sign(text: manifest.text, keys: [key])
  }

  func bytes(of blocks: Range<Int64>) -> [UInt8] {
    let bytes = manifest.layout.bytes(of: blocks)
    return Array(content[Int(bytes.lowerBound)..<Int(bytes.upperBound)])
  }

  func leaves() throws(FetchFailure) -> ProvenLeaves {
    var tree = try AuthenticatedTree(count: manifest.layout.count, root: manifest.root)
    var edge: [SuspectTile] = []
    for tile in tree.shape.edge { edge.append(try SuspectTile(tile, tiles[tile] ?? [])) }
    try tree.authenticate(edge: edge)
    for tile in tree.missingTiles(for: 0..<manifest.layout.count) {
      try tree.authenticate(try SuspectTile(tile, tiles[tile] ?? []))
    }
    return tree.provenLeaves(0..<manifest.layout.count)!
  }
}

/// What a pull does to the disk, without any network: claims are hashed again, missing blocks come
/// from the release itself, then it is finished.
struct DiskPull {
  let fileSystem: MemoryFileSystem
  var path = "/data"

  func directory() throws(FetchFailure) -> ResourceDirectory? {
    try ResourceDirectory(path, fileSystem)
  }

  /// - Returns: the blocks that had to come from the network.
  @discardableResult
  func run(_ made: MadeResource) throws(FetchFailure) -> BlockSet {
    let directory = try ResourceDirectory.make(path, fileSystem)
    let lock = try directory.lock()
    try directory.claim(made.manifest.origin, lock)
    var fetched = BlockSet(universe: made.manifest.layout.count)
    let version = made.manifest.version
    if CompletedVersion(version, in: directory.directory) != nil {
      try directory.setCurrent(version)
      return fetched
    }
    try directory.takeBack(made.manifest, lock)
    let resource = try directory.openUnfinished(made.manifest, note: made.note, lock)
    fetched = try fill(resource, made)
    try resource.publish(
      note: made.note, marker: CompletedVersion.marker(made.manifest, note: made.note),
      into: directory.directory)
    try directory.setCurrent(version)
    try directory.removeUnfinished(PartialResource.name(of: made.manifest), lock)
    return fetched
  }

  /// Hashes what is there, writes what is missing, two blocks a commit.
  func fill(
    _ resource: PartialResource, _ made: MadeResource, upTo limit: Int64 = .max
  ) throws(FetchFailure) -> BlockSet {
    let layout = made.manifest.layout
    let leaves = try made.leaves()
    var verifier = BlockVerifier(layout: layout)
    var good = BlockSet(universe: layout.count)
    for run in try resource.claimed().blocks.runs {
      var bytes = [UInt8](repeating: 0, count: layout.bytes(of: run).count)
      try Self.with(&bytes) { buffer throws(FetchFailure) in
        try resource.read(run, into: buffer)
        _ = try verifier.verify(UnsafeRawBufferPointer(buffer), blocks: run, leaves: leaves) {
          good.insert($0.blocks)
        }
      }
    }
    var missing = BlockSet(universe: layout.count, full: true)
    for run in good.runs { missing.remove(run) }
    var fetched = BlockSet(universe: layout.count)
    var start: Int64 = 0
    while let run = missing.run(from: start, limit: 2), run.lowerBound < limit {
      start = run.upperBound
      var bytes = made.bytes(of: run)
      try Self.with(&bytes) { buffer throws(FetchFailure) in
        _ = try verifier.verify(
          UnsafeRawBufferPointer(buffer), blocks: run, leaves: leaves
        ) { verified throws(FetchFailure) in try resource.write(verified) }
      }
      try resource.commit([run])
      fetched.insert(run)
    }
    return fetched
  }

  private static func with(
    _ bytes: inout [UInt8], _ body: (UnsafeMutableRawBufferPointer) throws(FetchFailure) -> Void
  ) throws(FetchFailure) {
    let result: Result<Void, FetchFailure> = bytes.withUnsafeMutableBytes { buffer in
      do throws(FetchFailure) { return .success(try body(buffer)) } catch { return .failure(error) }
    }
    try result.get()
  }

  /// The bytes of the file that is available; nil if none is.
  func available() throws -> (version: String, bytes: [UInt8], note: [UInt8])? {
    guard let directory = try directory(), let version = directory.available else { return nil }
    let bytes = try directory.directory.openDirectory(version.manifest.version)
      .readFile(version.manifest.file, limit: 1 << 20)
    return (version.manifest.version, bytes, version.note)
  }
}
