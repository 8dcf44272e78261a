/// Which start of the machine this is: 16 bytes, the same for every process until the next one.
package struct BootIdentity: Sendable, Equatable {
  package let bytes: [UInt8]

  package static let byteCount = 16

  /// Nil unless there are exactly 16 bytes that are not all zero: zeros stand for an unknown boot.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes.contains(where: { $0 != 0 }) else { return nil }
    self.bytes = bytes
  }

  /// For systems that know when they were started and give it no name: the instant, in seconds since
  /// 1970. Setting the clock moves it a little, so two of them are the same within ``tolerance``.
  package init(instant: Double) {
    bytes = Self.instantMark + Self.bigEndian(instant.bitPattern)
  }

  /// Seconds.
  package static let tolerance = 10.0

  package func isSame(as other: BootIdentity) -> Bool {
    guard let instant, let otherInstant = other.instant else { return self == other }
    return abs(instant - otherInstant) <= Self.tolerance
  }

  private static let instantMark = Array("instant:".utf8)

  private var instant: Double? {
    guard bytes.starts(with: Self.instantMark) else { return nil }
    let value = Double(
      bitPattern: bytes[8...].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    return value.isFinite ? value : nil
  }

  private static func bigEndian(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
  }
}
