/// A set of blocks of one resource, one bit each. Stretches that are wholly in it or wholly out of it
/// share their storage: it takes memory only where it is mixed, and at most 16 MiB.
package struct BlockSet: Sendable, Equatable {
  /// Blocks are 0..<universe.
  package let universe: Int64
  package private(set) var count: Int64 = 0
  private var stretches: [Stretch]

  package init(universe: Int64, full: Bool = false) {
    precondition(universe >= 0, "Download: negative block count")
    self.universe = universe
    let size = Int64(Stretch.size)
    stretches = [Stretch](repeating: Stretch(), count: Int((universe + size - 1) / size))
    if full { insert(0..<universe) }
  }

  package var isEmpty: Bool { count == 0 }

  package func contains(_ block: Int64) -> Bool {
    stretches[Stretch.index(of: block)].contains(Stretch.place(of: block))
  }

  package mutating func insert(_ range: Range<Int64>) {
    Self.forEachStretch(range, universe) { index, places in
      count += Int64(stretches[index].insert(places))
    }
  }

  package mutating func remove(_ range: Range<Int64>) {
    Self.forEachStretch(range, universe) { index, places in
      count -= Int64(stretches[index].remove(places))
    }
  }

  /// How many blocks of `range` are in the set.
  package func count(in range: Range<Int64>) -> Int64 {
    var sum: Int64 = 0
    Self.forEachStretch(range, universe) { index, places in
      sum += Int64(stretches[index].count(in: places))
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
    var start = start
    while start < universe {
      let index = Stretch.index(of: start)
      let first = Int64(index) * Int64(Stretch.size)
      if let place = stretches[index].next(from: Stretch.place(of: start), member: member) {
        let block = first + Int64(place)
        return block < universe ? block : nil
      }
      start = first + Int64(Stretch.size)
    }
    return nil
  }

  /// Holds no set, so that `body` changes one in its place: a second holder would make it a copy.
  private static func forEachStretch(
    _ range: Range<Int64>, _ universe: Int64, _ body: (Int, Range<Int>) -> Void
  ) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= universe, "Download: block out of range")
    guard !range.isEmpty else { return }
    let (first, last) = (
      Stretch.index(of: range.lowerBound), Stretch.index(of: range.upperBound - 1)
    )
    for index in first...last {
      let lower = index == first ? Stretch.place(of: range.lowerBound) : 0
      let upper = index == last ? Stretch.place(of: range.upperBound - 1) + 1 : Stretch.size
      body(index, lower..<upper)
    }
  }
}

/// The bits of 32,768 neighbouring blocks; the last stretch of a set may go beyond its universe.
private struct Stretch: Sendable, Equatable {
  static let size = 1 << 15
  /// What all stretches share that have no block, or all of them. A write copies what is shared.
  private static let none = [UInt64](repeating: 0, count: size / 64)
  private static let all = [UInt64](repeating: ~0, count: size / 64)

  private var count = 0
  private var words = none

  static func index(of block: Int64) -> Int { Int(block / Int64(size)) }
  static func place(of block: Int64) -> Int { Int(block % Int64(size)) }

  func contains(_ place: Int) -> Bool { words[place / 64] & (1 << UInt64(place % 64)) != 0 }

  /// - Returns: how many were not there before.
  mutating func insert(_ places: Range<Int>) -> Int {
    guard count < Self.size else { return 0 }
    let before = count
    if places.count == Self.size {
      count = Self.size
    } else {
      Self.forEachWord(places) { word, mask in
        count += (~words[word] & mask).nonzeroBitCount
        words[word] |= mask
      }
    }
    if count == Self.size { words = Self.all }
    return count - before
  }

  /// - Returns: how many were there.
  mutating func remove(_ places: Range<Int>) -> Int {
    guard count > 0 else { return 0 }
    let before = count
    if places.count == Self.size {
      count = 0
    } else {
      Self.forEachWord(places) { word, mask in
        count -= (words[word] & mask).nonzeroBitCount
        words[word] &= ~mask
      }
    }
    if count == 0 { words = Self.none }
    return before - count
  }

  func count(in places: Range<Int>) -> Int {
    if count == 0 || places.count == Self.size { return count }
    var sum = 0
    Self.forEachWord(places) { word, mask in sum += (words[word] & mask).nonzeroBitCount }
    return sum
  }

  func next(from start: Int, member: Bool) -> Int? {
    guard count != (member ? 0 : Self.size) else { return nil }
    var index = start / 64
    var word = (member ? words[index] : ~words[index]) & (~0 << UInt64(start % 64))
    while word == 0 {
      index += 1
      guard index < words.count else { return nil }
      word = member ? words[index] : ~words[index]
    }
    return index * 64 + word.trailingZeroBitCount
  }

  private static func forEachWord(_ places: Range<Int>, _ body: (Int, UInt64) -> Void) {
    let (first, last) = (places.lowerBound / 64, (places.upperBound - 1) / 64)
    for word in first...last {
      var mask = ~UInt64(0)
      if word == first { mask &= ~0 << UInt64(places.lowerBound % 64) }
      if word == last { mask &= ~0 >> UInt64(63 - (places.upperBound - 1) % 64) }
      body(word, mask)
    }
  }
}
