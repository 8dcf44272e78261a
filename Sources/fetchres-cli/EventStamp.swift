import Failure
import Synchronization
import System

/// What tells the events of this run apart, and from those of others.
enum EventStamp {
  /// When the program started, as near as it can be told.
  private static let start = Clocks.monotonic()
  private static let count = Atomic<Int64>(0)

  /// 16 hex digits, drawn anew for every run.
  static let run = Hex.encode(
    withUnsafeBytes(of: UInt64.random(in: 0 ... .max)) { Array($0) })

  static func begin() { _ = start }

  static func next() -> (number: Int64, milliseconds: Int64) {
    let time = Int64((Clocks.monotonic() - start) * 1_000)
    return (count.add(1, ordering: .relaxed).newValue, time)
  }
}
