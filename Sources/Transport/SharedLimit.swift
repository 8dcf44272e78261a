import System

/// The one rate limiter of a curl thread.
final class SharedLimit {
  private var limiter: RateLimiter

  init(bytesPerSecond: Int64) {
    limiter = RateLimiter(bytesPerSecond: bytesPerSecond, now: Clocks.monotonic())
  }

  func take(_ count: Int) -> Bool { limiter.take(count, now: Clocks.monotonic()) }

  /// What was counted and will be offered again.
  func giveBack(_ count: Int) { limiter.giveBack(count) }

  /// Seconds until a paused transfer may go on.
  var wait: Double { limiter.wait(now: Clocks.monotonic()) }
}
