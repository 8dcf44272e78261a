import Crypto
import Failure
import Manifest
import MerkleTree
import Storage
import System

/// The version-scoped directory in which one release is put together:
/// `DIR/.fetchres/partial/<version>-<first 16 hex of root>/`.
///
/// Nothing in it is trusted because we wrote it: the snapshot is verified again, tiles are suspect,
/// the journal is a hint.
package final class PartialResource: Sendable {
  package let manifest: Manifest
  package let directory: any Directory
  private let blocks: any File
  private let journal: Journal
  private let tiles: [any File]
  /// The blocks that were durable when the journal said so, and were not written since.
  private let durable: Monitor<BlockSet>

  static let snapshotName = "manifest"
  static let blocksName = "blocks"
  static let journalName = "journal"
  static let tilesName = "tiles"
  static let readyName = "ready"

  package static func name(of manifest: Manifest) -> String {
    "\(manifest.version)-\(Hex.encode(manifest.root.bytes.prefix(8)))"
  }

  /// Opens the directory of `manifest` below `partial`, making it where it is not there, and makes
  /// `note`, the bytes that were verified, its snapshot.
  package init(
    _ manifest: Manifest, note: [UInt8], below partial: any Directory
  ) throws(SystemError) {
    self.manifest = manifest
    directory = try partial.openOrMakeDirectory(Self.name(of: manifest), permissions: 0o700)
    let snapshot = try directory.statusIfPresent(Self.snapshotName)
    if snapshot?.kind != .regular
      || (try? directory.readFile(Self.snapshotName, limit: Manifest.maximumByteCount)) != note
    {
      try directory.replaceFile(Self.snapshotName, note)
    }
    try Self.takeBackFinished(manifest.file, in: directory)

    blocks = try directory.openFile(Self.blocksName, .create(permissions: 0o666))
    let size = try blocks.status().size
    if size != manifest.layout.size { try blocks.truncate(to: manifest.layout.size) }
    journal = try Journal(
      in: directory, name: Self.journalName, identity: Self.identity(manifest),
      blockCount: manifest.layout.count)
    var durable = BlockSet(universe: manifest.layout.count)
    for range in journal.claims { durable.insert(range) }
    self.durable = Monitor(durable)
    let tileDirectory = try directory.openOrMakeDirectory(Self.tilesName, permissions: 0o700)
    var tiles: [any File] = []
    for level in 0..<TreeShape(count: manifest.layout.count).tileLevels {
      tiles.append(try tileDirectory.openFile("\(level)", .create(permissions: 0o600)))
    }
    self.tiles = tiles
    try directory.sync()
    try partial.sync()
  }

  /// What binds a journal to one tree over one cut of the bytes.
  static func identity(_ manifest: Manifest) -> Digest {
    let text = "\(manifest.root) \(manifest.layout.size) \(manifest.layout.blockSize)\n"
    return SHA256.digest(Array(text.utf8))
  }

  /// A run that was stopped between the rename into `ready/` and the marker left the file there: it
  /// becomes `blocks` again, and is re-hashed like all that is found on disk.
  private static func takeBackFinished(
    _ file: String, in directory: any Directory
  ) throws(SystemError) {
    guard try directory.statusIfPresent(readyName)?.kind == .directory else { return }
    let ready = try directory.openDirectory(readyName)
    if try directory.statusIfPresent(blocksName) == nil,
      try ready.statusIfPresent(file)?.kind == .regular
    {
      try ready.rename(file, to: directory, blocksName)
      try directory.sync()
    }
    try directory.removeTree(readyName)
  }

  // MARK: Blocks

  /// The one place where block bytes reach the disk.
  package func write(_ verified: borrowing VerifiedBlocks) throws(FetchFailure) {
    let range = manifest.layout.bytes(of: verified.blocks)
    let written = verified.blocks
    durable.change { $0.remove(written) }
    do throws(SystemError) {
      guard verified.isZero else { return try blocks.write(verified.bytes, at: range.lowerBound) }
      try clear(range)
    } catch {
      throw error.failure("cannot write block \(verified.blocks.lowerBound)")
    }
  }

  #if FETCHRES_MUTANTS
    func writeUnverified(
      _ bytes: UnsafeRawBufferPointer, _ range: Range<Int64>
    ) throws(FetchFailure) {
      try doing("cannot write block \(range.lowerBound)") { () throws(SystemError) in
        try blocks.write(bytes, at: manifest.layout.bytes(of: range).lowerBound)
      }
    }
  #endif

  /// Makes the range read as zeros: a hole where there can be one.
  private func clear(_ range: Range<Int64>) throws(SystemError) {
    do throws(SystemError) { try blocks.punchHole(range) } catch {
      guard error.isNotSupported else { throw error }
      try writeZeros(range)
    }
  }

  private func writeZeros(_ range: Range<Int64>) throws(SystemError) {
    let zeros = [UInt8](repeating: 0, count: 64 << 10)
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = min(zeros.count, Int(range.upperBound - offset))
      try blocks.writeAll(count == zeros.count ? zeros : Array(zeros.prefix(count)), at: offset)
      offset += Int64(count)
    }
  }

  /// Reads blocks back, to hash them again. Bytes that are not there read as zeros.
  package func read(
    _ range: Range<Int64>, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FetchFailure) {
    let bytes = manifest.layout.bytes(of: range)
    try doing("cannot read block \(range.lowerBound) back") { () throws(SystemError) in
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<bytes.count])
      let count = try blocks.read(into: target, at: bytes.lowerBound)
      target[count...].initializeMemory(as: UInt8.self, repeating: 0)
    }
  }

  /// This work as a place to take equal blocks from.
  func asReuseFile() throws(FetchFailure) -> ReuseFile {
    ReuseFile(try openBlocks(), size: manifest.layout.size)
  }

  /// The file that is put together, to be read.
  package func openBlocks() throws(FetchFailure) -> any File {
    try doing("cannot read the verified blocks") { () throws(SystemError) in
      try directory.openFile(Self.blocksName, .read)
    }
  }

  /// Makes what was written durable, then says so in the journal.
  package func commit(_ ranges: [Range<Int64>]) throws(FetchFailure) {
    try doing("cannot make verified blocks durable") { () throws(SystemError) in
      try sync { () throws(SystemError) in try blocks.syncData() }
      try journal.append(ranges)
    }
    durable.change { durable in
      for range in ranges { durable.insert(range) }
    }
  }

  /// After a sync that failed, the next one works without having written anything: the pages count as
  /// clean, and read as if they were on the disk. So all that is not known to be durable is taken out,
  /// to be fetched and written again.
  private func sync(_ body: () throws(SystemError) -> Void) throws(SystemError) {
    do throws(SystemError) { try body() } catch {
      // Where every lock is granted, another process may have finished this very file meanwhile.
      guard
        let own = try? directory.status(Self.blocksName).inode, own == (try? blocks.status().inode)
      else { throw error }
      var lost = BlockSet(universe: manifest.layout.count, full: true)
      for run in durable.look({ $0 }).runs { lost.remove(run) }
      // The disk has failed already: what cannot be taken out either is left to it.
      for run in lost.runs { try? clear(manifest.layout.bytes(of: run)) }
      throw error
    }
  }

  /// The blocks that may be on disk: what the journal claims, and every whole block that the file
  /// system holds data for. Each has to be hashed before it counts.
  package func claimed() throws(FetchFailure) -> (blocks: BlockSet, journalled: BlockSet) {
    let layout = manifest.layout
    var claimed = BlockSet(universe: layout.count)
    for range in journal.claims { claimed.insert(range) }
    let journalled = claimed
    var offset: Int64 = 0
    do throws(SystemError) {
      while offset < layout.size, let data = try blocks.nextData(from: offset) {
        // A file system that knows no holes calls all of it data; then the journal has to do, unless
        // it is damaged.
        let isEverything = data.lowerBound == 0 && data.upperBound >= layout.size
        if isEverything, !journalled.isEmpty, !journal.isDamaged { break }
        let first = data.lowerBound / layout.blockSize
        let end = min(layout.size, data.upperBound)
        let last = end == layout.size ? layout.count : end / layout.blockSize
        if first < last { claimed.insert(first..<last) }
        offset = data.upperBound
      }
    } catch {
      // Holes cannot be told apart here: re-hash all unless the journal is whole.
      if journal.isDamaged || journalled.isEmpty { claimed.insert(0..<layout.count) }
    }
    return (claimed, journalled)
  }

  /// An upper bound for the bytes that may be on disk already.
  package func claimedBytes() throws(FetchFailure) -> Int64 {
    min(manifest.layout.size, try claimed().blocks.count * manifest.layout.blockSize)
  }

  // MARK: Tiles

  /// A tile that was kept, still to be authenticated; nil if it is not there.
  package func storedTile(_ tile: TileAddress) -> SuspectTile? {
    let offset = tile.index * Int64(Tile.width * Digest.byteCount)
    guard let bytes = try? tiles[tile.level].read(count: tile.byteCount, at: offset),
      bytes.contains(where: { $0 != 0 })
    else { return nil }
    return try? SuspectTile(tile, bytes)
  }

  /// Keeps an authenticated tile. It is a cache: a failure to write one is no failure of the run
  /// unless the disk is full or broken, which the next block will say.
  package func store(_ tile: TileAddress, _ bytes: [UInt8]) {
    let offset = tile.index * Int64(Tile.width * Digest.byteCount)
    try? tiles[tile.level].writeAll(bytes, at: offset)
  }

  // MARK: The end

  /// Makes the finished version appear under `DIR/<version>`, in steps of which each leaves a
  /// directory that a rerun completes: fsync `blocks`; rename it into `ready/`; write `manifest` and,
  /// last, `complete` there; fsync `ready/` and its parent; one rename of it to `DIR/<version>`; fsync
  /// both parents.
  ///
  /// Every block has to have been hashed by this process.
  package func publish(
    note: [UInt8], marker: [UInt8], into target: any Directory
  ) throws(FetchFailure) {
    let size: Int64
    do throws(SystemError) { size = try blocks.status().size } catch {
      throw error.failure("cannot look at the finished file")
    }
    guard size == manifest.layout.size else {
      throw FetchFailure(
        .sizeMismatch, "the finished file has \(size) bytes instead of \(manifest.layout.size)",
        hint: "another program changed it; run again")
    }
    do throws(SystemError) {
      let published = manifest.published.seconds
      try blocks.date(seconds: published)
      try sync { () throws(SystemError) in try blocks.sync() }
      try directory.removeTree(Self.readyName)
      try directory.makeDirectory(Self.readyName, permissions: 0o777)
      let ready = try directory.openDirectory(Self.readyName)
      try directory.rename(Self.blocksName, to: ready, manifest.file)
      try ready.replaceFile("manifest", note, modified: published)
      try ready.replaceFile("complete", marker, modified: published)
      try ready.sync()
      // Nothing of what appears under the version may still be at stake then.
      try directory.sync()
      try directory.rename(Self.readyName, to: target, manifest.version)
      // The name it has before it loses the one it had.
      try target.sync()
      try directory.sync()
    } catch {
      throw error.failure("cannot finish version \(manifest.version)")
    }
  }
}
