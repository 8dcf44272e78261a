/// How the blocks of a resource stand, in order: each cell speaks for as many neighbouring blocks.
package struct BlockMap: Sendable, Equatable {
  package enum Cell: String, Sendable, CaseIterable {
    /// At least one of its blocks is still to come, and nobody works on it.
    case missing
    /// A source gave at least one of its blocks, and it did not verify.
    case refused
    /// At least one of its blocks is asked for.
    case inFlight
    /// All of its blocks are there, at least half of them from this disk.
    case carriedOver
    /// All of its blocks are verified.
    case verified
  }

  package private(set) var cells: [Cell]

  /// As fine as it gets, whatever the size of the resource.
  package static let maximumCount = 4_096

  package init(_ cells: [Cell]) { self.cells = cells }

  /// Everything is there.
  package init(full blocks: Int64) {
    self.init([Cell](repeating: .verified, count: Self.count(of: blocks)))
  }

  /// What lies on disk, and the rest missing.
  package init(_ present: BlockSet) {
    let count = Self.count(of: present.universe)
    self.init(
      (0..<count).map { index in
        let range = Self.range(index, of: count, blocks: present.universe)
        return present.count(in: range) == Int64(range.count) ? .carriedOver : .missing
      })
  }

  package static func count(of blocks: Int64) -> Int {
    Int(min(blocks, Int64(maximumCount)))
  }

  /// What the cell at `index` of `count` speaks for, of `blocks` blocks or other things.
  static func range(_ index: Int, of count: Int, blocks: Int64) -> Range<Int64> {
    Int64(index) * blocks / Int64(count)..<Int64(index + 1) * blocks / Int64(count)
  }

  static func index(of block: Int64, of count: Int, blocks: Int64) -> Int {
    // The last cell that begins at or before the block.
    Int(((block + 1) * Int64(count) - 1) / blocks)
  }

  /// The same in fewer cells: what is worst in a cell is what it shows.
  package func reduced(to count: Int) -> BlockMap {
    guard count > 0, count < cells.count else { return self }
    return BlockMap(
      (0..<count).map { index in
        let range = Self.range(index, of: count, blocks: Int64(cells.count))
        return Self.worst(cells[Int(range.lowerBound)..<Int(range.upperBound)])
      })
  }

  private static func worst(_ cells: ArraySlice<Cell>) -> Cell {
    for cell in [Cell.refused, .inFlight, .missing] where cells.contains(cell) { return cell }
    return cells.count { $0 == .carriedOver } * 2 >= cells.count ? .carriedOver : .verified
  }
}

/// How many blocks of each cell came from this disk.
struct CarriedBlocks: Sendable {
  private let blocks: Int64
  private(set) var counts: [Int64]

  init(blocks: Int64) {
    self.blocks = blocks
    counts = [Int64](repeating: 0, count: BlockMap.count(of: blocks))
  }

  mutating func add(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    let first = BlockMap.index(of: range.lowerBound, of: counts.count, blocks: blocks)
    let last = BlockMap.index(of: range.upperBound - 1, of: counts.count, blocks: blocks)
    for index in first...last {
      let own = BlockMap.range(index, of: counts.count, blocks: blocks)
      counts[index] += Int64(own.clamped(to: range).count)
    }
  }
}

extension Scheduler {
  /// The map of now.
  func map(carried: CarriedBlocks) -> BlockMap {
    let count = carried.counts.count
    var marks = [BlockMap.Cell?](repeating: nil, count: count)
    func mark(_ range: Range<Int64>, _ cell: BlockMap.Cell) {
      guard !range.isEmpty else { return }
      let first = BlockMap.index(of: range.lowerBound, of: count, blocks: layout.count)
      let last = BlockMap.index(of: range.upperBound - 1, of: count, blocks: layout.count)
      for index in first...last { marks[index] = cell }
    }
    for span in active.values { mark(span.rest, .inFlight) }
    for block in attempts.keys { mark(block..<block + 1, .refused) }
    return BlockMap(
      (0..<count).map { index in
        let range = BlockMap.range(index, of: count, blocks: layout.count)
        guard verified.count(in: range) == Int64(range.count) else {
          return marks[index] ?? .missing
        }
        return carried.counts[index] * 2 >= Int64(range.count) ? .carriedOver : .verified
      })
  }

  /// When a source may be asked again, while there is something to ask for and none may be.
  func silentUntil(now: Double) -> Double? {
    guard active.isEmpty, !missing.isEmpty, !holdsBack else { return nil }
    let next = sources.filter(\.isLeft).map(\.notBefore).min()
    return next.flatMap { $0 > now ? $0 : nil }
  }
}
