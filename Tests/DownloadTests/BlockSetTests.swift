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

  /// The blocks whose bits stand together.
  private static let stretch: Int64 = 1 << 15

  @Test(arguments: [-1, 0, 1] as [Int64], 0..<2 as Range<UInt64>)
  func `large sets are right where stretches meet`(_ beyond: Int64, _ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let universe = 3 * Self.stretch + beyond
    var set = BlockSet(universe: universe, full: seed % 2 == 0)
    var reference = [Bool](repeating: seed % 2 == 0, count: Int(universe))
    func end() -> Int64 {
      // Often at an edge, or beside one.
      let edge = Int64.random(in: 0...3, using: &random) * Self.stretch
      let end = [0, 0, 1, -1, 64, 1_000].randomElement(using: &random)! + edge
      return min(max(end, 0), universe)
    }
    for _ in 0..<8 {
      let ends = [end(), end()].sorted()
      let isIn = Bool.random(using: &random)
      if isIn { set.insert(ends[0]..<ends[1]) } else { set.remove(ends[0]..<ends[1]) }
      for block in ends[0]..<ends[1] { reference[Int(block)] = isIn }
      let expected = Self.runs(reference)
      #expect(set.runs == expected)
      #expect(set.count == expected.reduce(0) { $0 + Int64($1.count) })
      let range = min(ends[0], 500)..<max(ends[1], universe - 500)
      #expect(
        set.count(in: range)
          == expected.reduce(0) { $0 + Int64($1.clamped(to: range).count) })
      for block in ends + [0, universe - 1] where block < universe {
        #expect(set.contains(block) == reference[Int(block)])
        #expect(
          set.run(from: block)
            == expected.first { $0.upperBound > block }
            .map { max($0.lowerBound, block)..<$0.upperBound })
      }
      var again = BlockSet(universe: universe)
      for run in expected { again.insert(run) }
      #expect(again == set)
    }
  }

  /// Where the bits of each stretch stand in memory.
  private static func places(_ set: BlockSet) -> [UInt] {
    let stretches = Int((set.universe + stretch - 1) / stretch)
    return withUnsafeBytes(of: set) { bytes in
      let array = bytes.load(
        fromByteOffset: bytes.count - MemoryLayout<UInt>.size, as: UInt.self)
      // Behind the head of the array: a count and an array for each.
      let first = UnsafeRawPointer(bitPattern: array + 32)!
      return (0..<stretches).map { first.load(fromByteOffset: $0 * 16 + 8, as: UInt.self) }
    }
  }

  @Test func `a change is made in place, however large the set`() {
    var set = BlockSet(universe: 1 << 20)
    for step in 0..<200 as Range<Int64> { set.insert(step * 5_000..<step * 5_000 + 1) }
    let places = Self.places(set)
    for step in 0..<200 as Range<Int64> {
      set.insert(step * 5_000..<step * 5_000 + 100)
      #expect(Self.places(set) == places)
      set.remove(step * 5_000 + 50..<step * 5_000 + 51)
      #expect(Self.places(set) == places)
    }
    #expect(set.count == 200 * 99)
    // What is shared is copied, once.
    let other = set
    set.insert(0..<1_000)
    #expect(Self.places(set)[0] != places[0] && Self.places(set)[1...] == places[1...])
    #expect(other.count == 200 * 99)
  }

  @Test func `what is not mixed takes no memory of its own`() {
    let universe: Int64 = 1 << 27
    let (empty, full) = (BlockSet(universe: universe), BlockSet(universe: universe, full: true))
    let places = (none: Self.places(empty)[0], all: Self.places(full)[0])
    #expect(Set(Self.places(empty)) == [places.none] && Set(Self.places(full)) == [places.all])
    // As a download does it, from the front.
    var (missing, done) = (full, empty)
    for block in stride(from: 0, to: 5 * Self.stretch, by: 5_000) {
      missing.remove(block..<block + 5_000)
      done.insert(block..<block + 5_000)
      #expect(Set(Self.places(missing)).subtracting([places.none, places.all]).count <= 1)
      #expect(Set(Self.places(done)).subtracting([places.none, places.all]).count <= 1)
    }
    #expect(missing.count + done.count == universe)
  }

  private static func runs(_ blocks: Set<Int64>) -> [Range<Int64>] { runs(sorted: blocks.sorted()) }

  private static func runs(_ blocks: [Bool]) -> [Range<Int64>] {
    runs(sorted: blocks.indices.lazy.filter { blocks[$0] }.map(Int64.init))
  }

  private static func runs(sorted blocks: some Sequence<Int64>) -> [Range<Int64>] {
    var runs: [Range<Int64>] = []
    for block in blocks {
      if let last = runs.last, last.upperBound == block {
        runs[runs.count - 1] = last.lowerBound..<block + 1
      } else {
        runs.append(block..<block + 1)
      }
    }
    return runs
  }
}
