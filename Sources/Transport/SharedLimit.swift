import System

/// The one rate of a curl thread, and who waits for it.
final class SharedLimit {
  private var queue: RateQueue

  init(bytesPerSecond: Int64) {
    queue = RateQueue(bytesPerSecond: bytesPerSecond, now: Clocks.monotonic())
  }

  func take(_ count: Int, by id: TransferID) -> Bool {
    queue.take(count, by: id, now: Clocks.monotonic())
  }

  /// What was counted and will be offered again.
  func giveBack(_ count: Int) { queue.giveBack(count) }

  /// The transfer that goes on now.
  func next() -> TransferID? { queue.next(now: Clocks.monotonic()) }

  func remove(_ id: TransferID) { queue.remove(id) }

  /// Seconds until one of those that are held back may go on; nil if there is none.
  var wait: Double? { queue.wait(now: Clocks.monotonic()) }
}
