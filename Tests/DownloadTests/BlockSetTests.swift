import Download
import TestSupport
import Testing

@Suite struct BlockSetTests {
  /// The universes whose last word is almost full, full, or has just begun.
  private static let universes: [Int64] = [0, 1, 2, 62, 63, 64, 65, 127, 128, 129, 200]

  @Test(arguments: universes)
  func `an empty set and a full one`(_ universe: Int64) {
    let (empty, full) = (BlockSet(universe: universe), BlockSet(universe: universe, full: true))
    #expect(empty.isEmpty)
    #expect(empty.runs == [])
    #expect(full.count == universe)
    #expect(full.runs == (universe == 0 ? [] : [0..<universe]))
    #expect(full.isEmpty == (universe == 0))
  }

  @Test(arguments: universes)
  func `every single block and every range is found where it was put`(_ universe: Int64) {
    for lower in stride(from: 0, to: universe, by: universe > 70 ? 7 : 1) {
      for upper in lower...universe where upper - lower < 3 || upper % 5 == 0 || upper > 62 {
        var set = BlockSet(universe: universe)
        set.insert(lower..<upper)
        #expect(set.count == upper - lower)
        #expect(set.runs == (lower < upper ? [lower..<upper] : []))
        if lower < upper {
          #expect(set.contains(lower) && set.contains(upper - 1))
          #expect(lower == 0 || !set.contains(lower - 1))
          #expect(upper == universe || !set.contains(upper))
        }
        var rest = BlockSet(universe: universe, full: true)
        rest.remove(lower..<upper)
        #expect(rest.count(in: lower..<upper) == 0)
        #expect(rest.count == universe - (upper - lower))
      }
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `random changes leave what a plain set has`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let universe = Self.universes.randomElement(using: &random)!
    var set = BlockSet(universe: universe, full: seed % 2 == 0)
    var reference = Set(seed % 2 == 0 ? 0..<universe : 0..<0)
    for _ in 0..<60 {
      let ends = [0, 1].map { _ in Int64.random(in: 0...universe, using: &random) }.sorted()
      let range = ends[0]..<ends[1]
      if Bool.random(using: &random) {
        set.insert(range)
        reference.formUnion(range)
      } else {
        set.remove(range)
        reference.subtract(range)
      }
      #expect(set.count == Int64(reference.count))
      #expect(set.isEmpty == reference.isEmpty)
      #expect((0..<universe).allSatisfy { set.contains($0) == reference.contains($0) })
      #expect(set.count(in: range) == Int64(reference.count(where: range.contains)))
      #expect(set.runs == Self.runs(reference))
      var again = BlockSet(universe: universe)
      for run in set.runs { again.insert(run) }
      #expect(again == set)

      let start = Int64.random(in: 0...universe, using: &random)
      let limit = Int64.random(in: 1...70, using: &random)
      let run = Self.runs(reference.filter { $0 >= start }).first
      #expect(set.run(from: start) == run)
      #expect(
        set.run(from: start, limit: limit)
          == run.map { $0.lowerBound..<min($0.upperBound, $0.lowerBound + limit) })
    }
  }

  /// Where the words of a set stand in memory.
  private static func place(_ set: inout BlockSet) -> Int {
    withUnsafeBytes(of: &set) { bytes in
      bytes.load(fromByteOffset: bytes.count - MemoryLayout<Int>.size, as: Int.self)
    }
  }

  @Test func `a change is made in place, however large the set`() {
    var set = BlockSet(universe: 1 << 20)
    let place = Self.place(&set)
    for step in 0..<200 as Range<Int64> {
      set.insert(step * 1_000..<step * 1_000 + 100)
      #expect(Self.place(&set) == place)
      set.remove(step * 1_000 + 50..<step * 1_000 + 51)
      #expect(Self.place(&set) == place)
    }
    #expect(set.count == 200 * 99)
    // What is shared is copied, once.
    let other = set
    set.insert(0..<1_000)
    #expect(Self.place(&set) != place)
    #expect(other.count == 200 * 99)
  }

  private static func runs(_ blocks: Set<Int64>) -> [Range<Int64>] {
    var runs: [Range<Int64>] = []
    for block in blocks.sorted() {
      if let last = runs.last, last.upperBound == block {
        runs[runs.count - 1] = last.lowerBound..<block + 1
      } else {
        runs.append(block..<block + 1)
      }
    }
    return runs
  }
}
