/// Numbers that look random and follow from a seed alone (SplitMix64).
struct Draw: Sendable, RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// A generator of its own for everything that `words` tell apart.
  init(seed: UInt64, _ words: String...) {
    // FNV-1a: it has to be the same on every machine and in every run.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
    for word in words {
      for byte in word.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      hash = (hash ^ 0xff) &* 0x100_0000_01b3
    }
    state = hash
    _ = next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return Self.mixed(state)
  }

  static func mixed(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// Within `0..<bound`; 0 if that is empty.
  mutating func below(_ bound: Int64) -> Int64 {
    bound > 0 ? Int64(next() % UInt64(bound)) : 0
  }

  mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + below(range.upperBound - range.lowerBound + 1)
  }

  /// True in so many of all cases.
  mutating func chance(_ share: Double) -> Bool {
    Double(next() >> 11) / Double(1 << 53) < share
  }

  mutating func one<Element>(of elements: [Element]) -> Element {
    precondition(!elements.isEmpty, "FaultOrigin: a draw from nothing")
    return elements[Int(below(Int64(elements.count)))]
  }
}
