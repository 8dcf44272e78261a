import Crypto

/// Takes an input apart into choices; behind its end, everything is zero.
struct InputReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func number() -> Int64 {
    Int64(truncatingIfNeeded: (0..<8).reduce(UInt64(0)) { value, _ in value << 8 | UInt64(byte()) })
  }

  /// A number below `count`, which is at most 65,536.
  mutating func choice(_ count: Int) -> Int { (Int(byte()) << 8 | Int(byte())) % count }

  mutating func bytes(_ count: Int) -> [UInt8] {
    let taken = Array(rest.prefix(count))
    rest = rest.dropFirst(count)
    return taken + [UInt8](repeating: 0, count: count - taken.count)
  }

  /// Any digest, out of two bytes.
  mutating func digest() -> Digest { SHA256.digest(bytes(2)) }
}
