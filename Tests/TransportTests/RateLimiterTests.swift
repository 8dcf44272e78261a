import Testing

@testable import Transport

/// A rate that all bodies of a run share.
struct RateLimiterTests {
  @Test(arguments: [1_000, 64_000, 1 << 20, 100 << 20] as [Int64], [1, 1_000, 16_384, 524_288])
  func `every window of two seconds is within a tenth of the rate, or one piece`(
    rate: Int64, piece: Int
  ) {
    var limiter = RateLimiter(bytesPerSecond: rate, now: 0)
    let step = min(0.01, Double(piece) / Double(rate) / 4 + 1e-4)
    var taken: [(time: Double, bytes: Int)] = []
    var now = 0.0
    while now < 8, taken.count < 200_000 {
      now += step
      while limiter.take(piece, now: now) { taken.append((now, piece)) }
      #expect(limiter.wait(now: now) > 0)
    }
    for start in stride(from: 1.0, to: now - 2, by: 0.5) {
      let bytes = taken.filter { $0.time > start && $0.time <= start + 2 }.reduce(0) {
        $0 + $1.bytes
      }
      let wanted = Double(rate) * 2
      #expect(abs(Double(bytes) - wanted) <= max(wanted * 0.1, Double(piece) + wanted * step))
    }
  }

  @Test func `time without transfers is not saved up`() {
    var limiter = RateLimiter(bytesPerSecond: 1_000, now: 0)
    var bytes = 0
    while limiter.take(10, now: 3_600) { bytes += 10 }
    #expect(bytes <= 120)
  }

  @Test func `the wait is when something may be taken again`() {
    var limiter = RateLimiter(bytesPerSecond: 1_000, now: 0)
    let taken = [limiter.take(500, now: 0), limiter.take(1, now: 0)]
    #expect(taken == [true, false])
    let wait = limiter.wait(now: 0)
    #expect(abs(wait - 0.5) < 1e-9)
    let later = [limiter.take(1, now: 0.49), limiter.take(1, now: 0.51)]
    #expect(later == [false, true])
  }
}
