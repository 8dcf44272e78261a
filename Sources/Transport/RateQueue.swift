/// Whose turn it is when all transfers of a run together keep to a rate: whoever has been held back
/// longest, until the credit is used up. Pure: times are seconds on the monotonic clock.
package struct RateQueue: Sendable {
  private var limiter: RateLimiter
  /// Who is held back, longest first.
  private var held: [TransferID] = []
  /// Who was let go last.
  private var turn: TransferID?

  package init(bytesPerSecond: Int64, now: Double) {
    limiter = RateLimiter(bytesPerSecond: bytesPerSecond, now: now)
  }

  /// Whether the transfer may take the piece now; then it counts. Otherwise it is held back until
  /// ``next(now:)`` names it. Nobody overtakes those who are.
  package mutating func take(_ count: Int, by id: TransferID, now: Double) -> Bool {
    if turn == id || held.isEmpty, limiter.take(count, now: now) { return true }
    held.append(id)
    return false
  }

  /// Undoes a ``take(_:by:now:)`` of a piece that was not taken after all.
  package mutating func giveBack(_ count: Int) { limiter.giveBack(count) }

  /// The transfer to offer its piece to again now; nil if there is none, or it is too early.
  package mutating func next(now: Double) -> TransferID? {
    turn = held.isEmpty || limiter.wait(now: now) > 0 ? nil : held.removeFirst()
    return turn
  }

  /// The transfer has ended.
  package mutating func remove(_ id: TransferID) { held.removeAll { $0 == id } }

  /// Seconds until ``next(now:)`` has something; nil while nobody is held back.
  package func wait(now: Double) -> Double? { held.isEmpty ? nil : limiter.wait(now: now) }
}
