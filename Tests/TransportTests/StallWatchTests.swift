import Failure
import TestSupport
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

  @Test func `a burst does not pay for silence later than a tenth after its window`() {
    var watch = watch()
    watch.receive(100_000_000, now: 100)
    #expect(watch.check(now: 120) == nil)
    #expect(watch.check(now: 121.9) == nil)
    #expect(watch.check(now: 122)?.category == .stalled)
  }

  @Test func `time in which we held the transfer up does not count`() {
    var watch = watch()
    watch.receive(10, now: 100)
    watch.hold(now: 110)
    watch.hold(now: 115)
    #expect(watch.check(now: 500) == nil)
    watch.letGo(now: 500)
    // Ten seconds of the window are left.
    #expect(watch.check(now: 509.9) == nil)
    #expect(watch.check(now: 510)?.category == .stalled)
  }

  @Test func `being held up again and again does not save a trickle`() {
    var watch = watch()
    var (now, ended) = (100.0, false)
    for _ in 0..<100 where !ended {
      watch.receive(1, now: now)
      watch.hold(now: now)
      now += 1
      watch.letGo(now: now)
      now += 1
      ended = watch.check(now: now) != nil
    }
    #expect(ended && now <= 144)
  }

  @Test func `after a restart a whole window has to pass, also before the first byte`() {
    var silent = watch()
    silent.restart(now: 129)
    #expect(silent.check(now: 158.9) == nil)
    #expect(silent.check(now: 159)?.category == .timeout)
    var slow = watch()
    slow.receive(10, now: 100)
    slow.restart(now: 1_000)
    #expect(slow.check(now: 1_019.9) == nil)
    #expect(slow.check(now: 1_020)?.category == .stalled)
  }

  /// Bytes arrive and looks happen at random times; held up at random in between. The reference keeps
  /// every byte with its time, less what does not count.
  @Test(arguments: 0..<200)
  func
    `whoever brings what the floor asks for in every window is kept, and whoever does not in a window and a tenth is not`(
      _ seed: UInt64
    )
  {
    var random = SeededGenerator(seed: seed)
    let (rate, window) = (Int64.random(in: 1...5_000, using: &random), 20.0)
    var watch = watch(rate, window: window)
    var (clock, held) = (100.0, 0.0)
    var arrivals: [(time: Double, count: Int64)] = []
    let scale = Double.random(in: 0.2...2, using: &random)
    for _ in 0..<2_000 {
      let step = Double.random(in: 0.001...1.5, using: &random)
      clock += step
      if Int.random(in: 0..<10, using: &random) == 0 {
        watch.hold(now: clock)
        let pause = Double.random(in: 0...50, using: &random)
        (clock, held) = (clock + pause, held + pause)
        watch.letGo(now: clock)
      }
      let time = clock - held
      let wanted = Double(rate) * step * scale * Double.random(in: 0.5...1.5, using: &random)
      watch.receive(Int(wanted), now: clock)
      arrivals.append((time, Int64(wanted)))
      func sum(_ length: Double) -> Int64 {
        arrivals.reduce(0) { $0 + ($1.time > time - length ? $1.count : 0) }
      }
      let floor = Double(rate) * window
      let isGivenUp = watch.check(now: clock) != nil
      let isOld = time - arrivals[0].time >= window + 0.001
      if isGivenUp {
        #expect(Double(sum(window - 0.001)) < floor && time - arrivals[0].time >= window - 0.001)
        return
      }
      if isOld { #expect(Double(sum(window * 1.1 + 0.001)) >= floor) }
    }
  }
}
