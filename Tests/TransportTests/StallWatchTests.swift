import Failure
import Testing

@testable import Transport

/// Time is a number here.
@Suite struct StallWatchTests {
  private func watch(_ rate: Int64 = 1_000, window: Double = 20, now: Double = 100) -> StallWatch {
    StallWatch(
      limit: StallLimit(bytesPerSecond: rate, window: window), firstByteTimeout: 30, now: now)
  }

  @Test func `silence before the first byte ends at its own limit`() {
    var watch = watch()
    #expect(watch.check(now: 100) == nil)
    #expect(watch.check(now: 129.9) == nil)
    #expect(watch.check(now: 130)?.category == .timeout)
  }

  @Test func `the window begins with the first byte`() {
    var watch = watch()
    watch.receive(1, now: 129)
    #expect(watch.check(now: 148.9) == nil)
    let failure = watch.check(now: 149)
    #expect(failure?.category == .stalled)
    #expect(failure?.exitCode == 3)
    #expect(failure?.message.contains("1 bytes in 20 s") == true)
  }

  @Test func `headers, then silence, is given up`() {
    var watch = watch()
    watch.receive(300, now: 100.1)
    #expect(watch.check(now: 120.2)?.category == .stalled)
  }

  @Test func `one byte every two seconds is given up within one window`() {
    var watch = watch()
    var ended: Double?
    for step in 0..<100 where ended == nil {
      let now = 100 + 2 * Double(step)
      watch.receive(1, now: now)
      if watch.check(now: now) != nil { ended = now }
    }
    #expect(ended == 120)
  }

  @Test(arguments: [1_000, 1_001, 1_500, 1_000_000])
  func `a slow but steady transfer at the floor or above is never given up`(_ rate: Int) {
    for (interval, phase) in [(1.0, 0.0), (0.5, 0.1), (0.25, 0.24), (0.1, 0.05)] {
      var watch = watch()
      let count = Int(Double(rate) * interval)
      var (received, checked) = (100.0, 100.0 + phase)
      while received < 1_000 {
        if received <= checked {
          watch.receive(count, now: received)
          received += interval
        } else {
          #expect(watch.check(now: checked) == nil, "\(rate) bytes/s every \(interval) s")
          checked += 0.25
        }
      }
    }
  }

  @Test(arguments: [900, 500, 1])
  func `a steady transfer below the floor is given up within two windows`(_ rate: Int) {
    var watch = watch()
    var ended: Double?
    for second in 0..<200 where ended == nil {
      watch.receive(rate, now: 100 + Double(second))
      if watch.check(now: 100 + Double(second)) != nil { ended = Double(second) }
    }
    #expect(ended.map { $0 <= 40 } == true)
  }

  @Test func `a burst does not pay for silence later`() {
    var watch = watch()
    watch.receive(100_000_000, now: 100)
    #expect(watch.check(now: 120) == nil)
    #expect(watch.check(now: 139.9) == nil)
    #expect(watch.check(now: 140)?.category == .stalled)
  }

  @Test func `time in which we held the transfer up does not count`() {
    var watch = watch()
    watch.receive(10, now: 100)
    // Paused until 500, then resumed.
    watch.restart(now: 500)
    #expect(watch.check(now: 519.9) == nil)
    watch.receive(20_000, now: 519.9)
    #expect(watch.check(now: 520) == nil)
    #expect(watch.check(now: 540)?.category == .stalled)
  }
}
