/// Holds all bodies of a run together to a rate. Pure: times are seconds on the monotonic clock.
///
/// A piece is taken whole as long as there is any credit, and what it takes too much is waited for
/// before the next one: so the rate comes out exactly, whatever the size of the pieces.
package struct RateLimiter: Sendable {
  private let bytesPerSecond: Double
  private var credit = 0.0
  private var last: Double

  /// The most that an idle time can save up, in seconds.
  private static let burst = 0.1

  package init(bytesPerSecond: Int64, now: Double) {
    self.bytesPerSecond = Double(max(1, bytesPerSecond))
    last = now
  }

  /// How large pieces may be without making the rate uneven.
  package static func pieceSize(bytesPerSecond: Int64) -> Int {
    Int(max(1_024, min(512 << 10, bytesPerSecond / 16)))
  }

  /// Whether the piece may be taken now; then it counts.
  package mutating func take(_ count: Int, now: Double) -> Bool {
    credit = min(bytesPerSecond * Self.burst, credit + (now - last) * bytesPerSecond)
    last = now
    guard credit >= 0 else { return false }
    credit -= Double(count)
    return true
  }

  /// Undoes a ``take(_:now:)`` of a piece that was not taken after all.
  package mutating func giveBack(_ count: Int) { credit += Double(count) }

  /// Seconds until something may be taken again.
  package func wait(now: Double) -> Double {
    max(0, -(credit + (now - last) * bytesPerSecond) / bytesPerSecond)
  }
}
