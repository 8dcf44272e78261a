import System

/// The waits after failures in a row, in seconds: a fixed ladder, the same for every source and for
/// passwords.
package enum RetryLadder {
  private static let rungs: [Double] = [0, 0, 5, 15, 60, 300, 900, 3_600]
  private static let firstDoubled = 3.0 * 3_600

  /// No wait is longer: seven days.
  package static let ceiling = 7.0 * 86_400

  /// None after the first two failures, then 5 s, 15 s, 1 min, 5 min, 15 min, 1 h; from the ninth on
  /// doubling from 3 h to the ceiling.
  package static func wait(failures: UInt32) -> Double {
    if failures == 0 { return 0 }
    if failures <= rungs.count { return rungs[Int(failures) - 1] }
    let doublings = min(Int(failures) - rungs.count - 1, 16)
    return min(firstDoubled * Double(1 << doublings), ceiling)
  }
}

/// An instant on the clock of one boot, in seconds (``Clocks/sinceBoot()``): it counts sleep and cannot
/// be set. The wall clock never enters.
package struct BootDeadline: Sendable, Equatable {
  /// Nil if it is not known.
  package var instant: Double?
  /// Nil if it is not known, which counts as another boot.
  package var boot: BootIdentity?

  package init(instant: Double?, boot: BootIdentity?) {
    (self.instant, self.boot) = (instant.flatMap { $0.isFinite ? $0 : nil }, boot)
  }

  /// Seconds until then, not below 0; nil if the instant is not on the clock of this boot.
  package func left(now: Double, boot: BootIdentity?) -> Double? {
    guard let instant, let boot, let own = self.boot, own.isSame(as: boot) else { return nil }
    return max(0, instant - now)
  }

  /// A wait that begins again, since the instant is not known to be on the clock of this boot. Where
  /// neither boot has a name, the clock is believed as far as it says less: else a wait that was written
  /// down would begin again at every look.
  fileprivate func again(_ wait: Double, now: Double, boot: BootIdentity?) -> Double {
    guard let instant, self.boot == nil, boot == nil else { return wait }
    return min(wait, max(0, instant - now))
  }
}

/// The state of a ladder that outlives the process.
///
/// 29 bytes: version 2, failures (u32), deadline (bit pattern of an f64), identity of the boot that the
/// deadline belongs to (16, zeros if unknown); numbers big-endian. An older form of 28 bytes has no
/// version byte: only its count is believed. Everything else is no record.
package struct LadderRecord: Sendable, Equatable {
  package var failures: UInt32
  package var deadline: BootDeadline

  private static let version: UInt8 = 2

  /// What to write after so many failures in a row: the wait of that rung begins now.
  ///
  /// - Parameter atLeast: a longer wait that was asked for, in seconds; up to the ceiling.
  package init(failures: UInt32, now: Double, boot: BootIdentity?, atLeast: Double = 0) {
    self.failures = failures
    let asked = atLeast.isFinite ? min(max(0, atLeast), RetryLadder.ceiling) : 0
    deadline = BootDeadline(
      instant: now + max(RetryLadder.wait(failures: failures), asked), boot: boot)
  }

  package init?(_ bytes: [UInt8]) {
    var fields = RecordFields(bytes)
    switch bytes.count {
    case 28:
      failures = fields.uint32()
      deadline = BootDeadline(instant: nil, boot: nil)
    case 29:
      guard fields.byte() == Self.version else { return nil }
      failures = fields.uint32()
      deadline = fields.deadline()
    default:
      return nil
    }
  }

  package var bytes: [UInt8] {
    [Self.version] + RecordFields.bytes(failures) + RecordFields.bytes(deadline)
  }

  /// Seconds until the next attempt: 0 to the ceiling. In another boot it is the whole wait of the
  /// rung, and whoever begins to wait saves a new record, so that it is so once.
  package func wait(now: Double, boot: BootIdentity?) -> Double {
    min(
      deadline.left(now: now, boot: boot) ?? RetryLadder.wait(failures: failures),
      RetryLadder.ceiling)
  }

  /// The longest wait for a source that begins again, in seconds: a machine that starts every day gets
  /// through every rung.
  package static let longestAgain = 300.0

  /// Seconds until a source is asked again: like ``wait(now:boot:)`` in the boot of the record, and at
  /// most ``longestAgain`` in another one.
  package func sourceWait(now: Double, boot: BootIdentity?) -> Double {
    if let left = deadline.left(now: now, boot: boot) { return min(left, RetryLadder.ceiling) }
    let rung = RetryLadder.wait(failures: failures)
    return deadline.again(min(rung, Self.longestAgain), now: now, boot: boot)
  }

  /// What to write in another boot, so that the wait begins again once.
  package func begunAgain(now: Double, boot: BootIdentity?) -> LadderRecord {
    var record = self
    record.deadline = BootDeadline(instant: now + sourceWait(now: now, boot: boot), boot: boot)
    return record
  }
}

/// A source that is left alone for a day because it gave wrong bytes twice.
///
/// 25 bytes: version 1, deadline, identity of the boot; as in ``LadderRecord``.
package struct HoldRecord: Sendable, Equatable {
  package var deadline: BootDeadline

  private static let version: UInt8 = 1
  /// Seconds.
  package static let duration = 86_400.0
  /// The longest hold that begins again in another boot, in seconds.
  package static let longestAgain = 3_600.0

  package init(now: Double, boot: BootIdentity?) {
    deadline = BootDeadline(instant: now + Self.duration, boot: boot)
  }

  package init?(_ bytes: [UInt8]) {
    var fields = RecordFields(bytes)
    guard bytes.count == 25, fields.byte() == Self.version else { return nil }
    deadline = fields.deadline()
  }

  package var bytes: [UInt8] { [Self.version] + RecordFields.bytes(deadline) }

  /// Seconds that are left: 0 to a day; all of it if the deadline is not known, and at most
  /// ``longestAgain`` if it is on the clock of another boot.
  package func wait(now: Double, boot: BootIdentity?) -> Double {
    if let left = deadline.left(now: now, boot: boot) { return min(left, Self.duration) }
    guard deadline.instant != nil else { return Self.duration }
    return deadline.again(Self.longestAgain, now: now, boot: boot)
  }

  /// What to write in another boot, so that the hold begins again once.
  package func begunAgain(now: Double, boot: BootIdentity?) -> HoldRecord {
    var record = self
    record.deadline = BootDeadline(instant: now + wait(now: now, boot: boot), boot: boot)
    return record
  }
}

/// Reads and writes the fields of the records above, front to back.
private struct RecordFields {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.removeFirst() }

  mutating func uint32() -> UInt32 { UInt32(truncatingIfNeeded: integer(4)) }

  mutating func deadline() -> BootDeadline {
    BootDeadline(
      instant: Double(bitPattern: integer(8)),
      boot: BootIdentity(Array(rest.prefix(BootIdentity.byteCount))))
  }

  private mutating func integer(_ count: Int) -> UInt64 {
    defer { rest.removeFirst(count) }
    return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func bytes(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  static func bytes(_ deadline: BootDeadline) -> [UInt8] {
    let pattern = (deadline.instant ?? .infinity).bitPattern
    return (0..<8).map { UInt8(truncatingIfNeeded: pattern >> (56 - 8 * $0)) }
      + (deadline.boot?.bytes ?? [UInt8](repeating: 0, count: BootIdentity.byteCount))
  }
}
