/// A set of blocks of one resource, one bit each: at most 16 MiB.
package struct BlockSet: Sendable, Equatable {
  /// Blocks are 0..<universe.
  package let universe: Int64
  package private(set) var count: Int64 = 0
  private var words: [UInt64]

  package init(universe: Int64, full: Bool = false) {
    precondition(universe >= 0, "Download: negative block count")
    self.universe = universe
    words = [UInt64](repeating: 0, count: Int((universe + 63) / 64))
    if full { insert(0..<universe) }
  }

  package var isEmpty: Bool { count == 0 }

  package func contains(_ block: Int64) -> Bool {
    words[Int(block >> 6)] & (1 << UInt64(block & 63)) != 0
  }

  package mutating func insert(_ range: Range<Int64>) {
    Self.forEachWord(range, universe) { word, mask in
      count += Int64((~words[word] & mask).nonzeroBitCount)
      words[word] |= mask
    }
  }

  package mutating func remove(_ range: Range<Int64>) {
    Self.forEachWord(range, universe) { word, mask in
      count -= Int64((words[word] & mask).nonzeroBitCount)
      words[word] &= ~mask
    }
  }

  /// How many blocks of `range` are in the set.
  package func count(in range: Range<Int64>) -> Int64 {
    var sum: Int64 = 0
    Self.forEachWord(range, universe) { word, mask in
      sum += Int64((words[word] & mask).nonzeroBitCount)
    }
    return sum
  }

  /// The first run of members at or behind `start`, of at most `limit` blocks; nil if none follows.
  package func run(from start: Int64, limit: Int64 = .max) -> Range<Int64>? {
    guard let first = next(from: start, member: true) else { return nil }
    let end = next(from: first, member: false) ?? universe
    return first..<min(end, limit > universe - first ? universe : first + limit)
  }

  /// All runs of members, in order.
  package var runs: [Range<Int64>] {
    var runs: [Range<Int64>] = []
    var start: Int64 = 0
    while let run = run(from: start) {
      runs.append(run)
      start = run.upperBound
    }
    return runs
  }

  private func next(from start: Int64, member: Bool) -> Int64? {
    guard start < universe else { return nil }
    var index = Int(start >> 6)
    var word = (member ? words[index] : ~words[index]) & (~0 << UInt64(start & 63))
    while word == 0 {
      index += 1
      guard index < words.count else { return nil }
      word = member ? words[index] : ~words[index]
    }
    let block = Int64(index) << 6 + Int64(word.trailingZeroBitCount)
    return block < universe ? block : nil
  }

  /// Holds no set, so that `body` changes one in its place: a second holder would make it a copy.
  private static func forEachWord(
    _ range: Range<Int64>, _ universe: Int64, _ body: (Int, UInt64) -> Void
  ) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= universe, "Download: block out of range")
    guard !range.isEmpty else { return }
    let (first, last) = (Int(range.lowerBound >> 6), Int((range.upperBound - 1) >> 6))
    for word in first...last {
      var mask = ~UInt64(0)
      if word == first { mask &= ~0 << UInt64(range.lowerBound & 63) }
      if word == last { mask &= ~0 >> UInt64(63 - (range.upperBound - 1) & 63) }
      body(word, mask)
    }
  }
}
