import Failure

/// A floor under the rate of a transfer.
package struct StallLimit: Sendable, Equatable {
  package var bytesPerSecond: Int64
  /// Seconds.
  package var window: Double

  package init(bytesPerSecond: Int64, window: Double) {
    (self.bytesPerSecond, self.window) = (bytesPerSecond, window)
  }
}

/// Watches one transfer: silence before the first byte, and a rate below the floor after it. Times
/// are seconds on the monotonic clock.
///
/// The window slides: bytes are counted for each tenth of it. A transfer that brings what the floor
/// asks for in every window is never given up; one that falls silent is after 1.1 windows at the
/// latest, whatever it brought before.
package struct StallWatch: Sendable {
  private let limit: StallLimit
  private let firstByteTimeout: Double
  private var hasBegun = false
  /// Where the first tenth begins.
  private var start: Double
  /// The tenth that ends now and the ten before it, each at its number modulo their count: at least
  /// one window, whatever the time.
  private var tenths = [Int64](repeating: 0, count: 11)
  private var newest = 0
  /// How long the transfer was held up by our doing, which counts for nothing.
  private var held = 0.0
  private var heldSince: Double?

  package init(limit: StallLimit, firstByteTimeout: Double, now: Double) {
    (self.limit, self.firstByteTimeout, start) = (limit, firstByteTimeout, now)
  }

  package mutating func receive(_ count: Int, now: Double) {
    if !hasBegun { restart(now: now) }
    hasBegun = true
    advance(to: counted(now))
    tenths[newest % tenths.count] += Int64(count)
  }

  /// From now on the transfer is not to move.
  package mutating func hold(now: Double) { heldSince = heldSince ?? now }

  package mutating func letGo(now: Double) {
    guard let since = heldSince else { return }
    held += now - since
    heldSince = nil
  }

  /// Forgets all that was waited for until now.
  package mutating func restart(now: Double) {
    start = counted(now)
    newest = 0
    for index in tenths.indices { tenths[index] = 0 }
  }

  /// Nil while the transfer is well.
  package mutating func check(now: Double) -> FetchFailure? {
    guard heldSince == nil else { return nil }
    let time = counted(now)
    guard hasBegun else {
      guard time - start >= firstByteTimeout else { return nil }
      return FetchFailure(.timeout, "no answer within \(Int(firstByteTimeout)) s")
    }
    guard time - start >= limit.window else { return nil }
    advance(to: time)
    let bytes = tenths.reduce(0, +)
    guard Double(bytes) < Double(limit.bytesPerSecond) * limit.window else { return nil }
    return FetchFailure(
      .stalled, "\(bytes) bytes in \(Int(limit.window)) s: given up as stalled")
  }

  /// The clock, less what does not count.
  private func counted(_ now: Double) -> Double { (heldSince ?? now) - held }

  private mutating func advance(to time: Double) {
    let current = Int(min(max(0, (time - start) / limit.window * 10), 1e15))
    guard current > newest else { return }
    for number in max(newest + 1, current - 10)...current { tenths[number % tenths.count] = 0 }
    newest = current
  }
}
