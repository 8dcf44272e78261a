import Crypto
import MerkleTree
import Storage

/// A local file whose blocks may be of use: an earlier version, unfinished work on one, any file that
/// the user names.
package final class ReuseFile: Sendable {
  let file: any File
  /// Bytes.
  let size: Int64

  package init(_ file: any File, size: Int64) { (self.file, self.size) = (file, size) }
}

/// What does not have to be fetched because it is on this disk: decides which blocks wait for which
/// local file, and what stands where. Pure: jobs come out, outcomes go in.
struct CarryOver {
  let layout: BlockLayout
  private var files: [ReuseFile]
  private var cursor: Int64 = 0
  /// Blocks that a local file may hold at the same place: not asked for until it was looked at.
  private(set) var reserved: BlockSet
  /// Nil for trees that are too large for it: then only the same place is looked at.
  private(set) var index: LeafIndex?
  /// Runs that were looked at and not released.
  private var looked: [Range<Int64>] = []
  /// Blocks that wait for an equal one.
  private var waiting: [Int64: [Int64]] = [:]

  init(layout: BlockLayout, files: [ReuseFile]) {
    self.layout = layout
    self.files = files
    reserved = BlockSet(universe: layout.count)
    if layout.count <= LeafIndex.maximumCount { index = LeafIndex(count: layout.count) }
    for file in files { reserved.insert(0..<samePlace(file)) }
  }

  /// Whether every local file was looked at.
  var isExhausted: Bool { files.isEmpty }

  /// How many blocks of the resource `file` covers at the same place, with the same length.
  private func samePlace(_ file: ReuseFile) -> Int64 {
    file.size >= layout.size ? layout.count : file.size / layout.blockSize
  }

  // MARK: Local files

  /// The next run of blocks to look at in a local file, of at most `limit`; nil if there is none now.
  /// Waits for the index, which says what stands elsewhere.
  mutating func nextLook(limit: Int64) -> (file: ReuseFile, blocks: Range<Int64>)? {
    guard index?.isComplete != false else { return nil }
    while let file = files.first {
      // Blocks behind the end of the new resource may stand elsewhere in it.
      let end = index == nil ? samePlace(file) : max(samePlace(file), file.size / layout.blockSize)
      guard cursor < end else {
        files.removeFirst()
        cursor = 0
        continue
      }
      let place = samePlace(file)
      let bound = cursor < place ? place : end
      let blocks = cursor..<min(bound, cursor + limit)
      cursor = blocks.upperBound
      return (file, blocks)
    }
    return nil
  }

  /// A run of a local file was looked at.
  ///
  /// - Returns: blocks that no local file is likely to have any more, and are to be fetched. That is
  ///   said with some delay: what was cut out of the resource stands a little further in the file.
  mutating func looked(at blocks: Range<Int64>) -> [Range<Int64>] {
    looked.append(blocks)
    // As long as another file follows, it may have them.
    guard files.count <= 1 else { return [] }
    var released: [Range<Int64>] = []
    while let first = looked.first,
      (blocks.lowerBound - first.upperBound) * layout.blockSize >= Self.delay
    {
      released += release(first)
      looked.removeFirst()
    }
    return released
  }

  /// Bytes.
  private static let delay: Int64 = 64 << 20

  /// A block comes from elsewhere in a local file: it is not released.
  ///
  /// - Returns: whether it was waiting.
  mutating func take(_ block: Int64) -> Bool {
    guard reserved.contains(block) else { return false }
    reserved.remove(block..<block + 1)
    return true
  }

  /// Gives back all that waits, once no local file is left.
  mutating func releaseAll() -> [Range<Int64>] { release(0..<layout.count) }

  private mutating func release(_ blocks: Range<Int64>) -> [Range<Int64>] {
    let inside = blocks.clamped(to: 0..<layout.count)
    var released: [Range<Int64>] = []
    var start = inside.lowerBound
    while let run = reserved.run(from: start), run.lowerBound < inside.upperBound {
      let part = run.clamped(to: inside)
      released.append(part)
      start = part.upperBound
    }
    reserved.remove(inside)
    return released
  }

  /// A block of the resource that this leaf hash may stand for. Of equal ones it is the one that the
  /// others wait for: naming them all, for each of as many equal blocks of a local file, would take the
  /// square of their number.
  func place(of leaf: Digest) -> Int64? {
    guard let index, index.isComplete else { return nil }
    return index.block(of: leaf)
  }

  // MARK: Equal blocks

  mutating func learn(_ blocks: Range<Int64>, _ leaves: ProvenLeaves) {
    index?.learn(blocks, leaves)
  }

  /// Decides which of equal blocks is fetched, and which wait for it. Called once, when the index is
  /// complete.
  ///
  /// - Parameter wants: whether a block is still to be fetched and nobody works on it.
  /// - Returns: the blocks that wait.
  mutating func pairTwins(wants: (Int64) -> Bool) -> [Int64] {
    guard let index, index.isComplete else { return [] }
    var all: [Int64] = []
    for group in index.twins {
      let followers = group.dropFirst().filter(wants)
      guard !followers.isEmpty else { continue }
      waiting[group[0]] = followers
      all += followers
    }
    return all
  }

  /// The blocks that wait for one that is now verified.
  mutating func takeFollowers(of block: Int64) -> [Int64] {
    waiting.isEmpty ? [] : waiting.removeValue(forKey: block) ?? []
  }

  /// Those whose leader was verified before they began to wait.
  mutating func takeFollowers(where isVerified: (Int64) -> Bool) -> [(leader: Int64, [Int64])] {
    let ready = waiting.keys.filter(isVerified)
    return ready.map { ($0, waiting.removeValue(forKey: $0) ?? []) }
  }
}
