/// SHA-256 as FIPS 180-4 writes it down, for whoever must not share a line with what is checked.
struct PlainSHA256 {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  private var pending: [UInt8] = []
  private var count: UInt64 = 0

  static func digest(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var hash = PlainSHA256()
    hash.update(bytes)
    return hash.finish()
  }

  mutating func update(_ bytes: some Collection<UInt8>) {
    count += UInt64(bytes.count)
    pending += bytes
    var start = 0
    pending.withUnsafeBufferPointer { pending in
      while pending.count - start >= 64 {
        Self.compress(&state, pending, start)
        start += 64
      }
    }
    pending.removeFirst(start)
  }

  mutating func finish() -> [UInt8] {
    let bits = count * 8
    pending.append(0x80)
    while pending.count % 64 != 56 { pending.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
      pending.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    pending.withUnsafeBufferPointer { pending in
      for start in stride(from: 0, to: pending.count, by: 64) {
        Self.compress(&state, pending, start)
      }
    }
    return state.flatMap { word in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }

  private static func compress(
    _ state: inout [UInt32], _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int
  ) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
      for index in 0..<16 {
        let at = start + index * 4
        words[index] =
          UInt32(bytes[at]) << 24 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + 2]) << 8
          | UInt32(bytes[at + 3])
      }
      for index in 16..<64 {
        let (early, late) = (words[index - 15], words[index - 2])
        let small = turned(early, 7) ^ turned(early, 18) ^ early >> 3
        let large = turned(late, 17) ^ turned(late, 19) ^ late >> 10
        words[index] = words[index - 16] &+ small &+ words[index - 7] &+ large
      }
      var (a, b, c, d) = (state[0], state[1], state[2], state[3])
      var (e, f, g, h) = (state[4], state[5], state[6], state[7])
      for index in 0..<64 {
        let one = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
        let first = h &+ one &+ ((e & f) ^ (~e & g)) &+ constants[index] &+ words[index]
        let zero = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
        let second = zero &+ ((a & b) ^ (a & c) ^ (b & c))
        (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
      }
      for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }
  }

  private static func turned(_ word: UInt32, _ by: UInt32) -> UInt32 {
    word >> by | word << (32 - by)
  }

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = {
    var primes: [UInt64] = []
    var candidate: UInt64 = 2
    while primes.count < 64 {
      if !primes.contains(where: { candidate % $0 == 0 }) { primes.append(candidate) }
      candidate += 1
    }
    // The cube root times 2^32, bit by bit, in whole numbers: r^3 <= p * 2^96.
    return primes.map { prime in
      var root: UInt128 = 0
      for bit in stride(from: 35, through: 0, by: -1) {
        let trial = root | UInt128(1) << UInt128(bit)
        if trial * trial * trial <= UInt128(prime) << 96 { root = trial }
      }
      return UInt32(truncatingIfNeeded: root)
    }
  }()
}
