import Testing

@testable import Download

/// How many connections are found to be worth having.
struct ConnectionGovernorTests {
  /// Runs against a link whose total rate depends on the number of connections.
  private func settle(
    maximum: Int, seconds: Double = 4, rate: (Int) -> Double
  ) -> (last: Int, highest: Int) {
    var governor = ConnectionGovernor(maximum: maximum, now: 100)
    var (now, bytes, highest) = (100.0, 0.0, 0)
    while now < 100 + seconds {
      now += 0.05
      bytes += rate(governor.allowed) * 0.05
      governor.tick(bytes: Int64(bytes), now: now)
      highest = max(highest, governor.allowed)
    }
    return (governor.allowed, highest)
  }

  @Test(arguments: [1, 2, 3, 8, 16])
  func `a server that holds each connection back gets as many as are allowed`(maximum: Int) {
    let result = settle(maximum: maximum) { 20e6 * Double($0) }
    #expect(result.last == maximum)
  }

  @Test(arguments: [1, 2, 3, 8, 16])
  func `there are never more than are allowed`(maximum: Int) {
    #expect(settle(maximum: maximum) { 1e9 * Double($0) }.highest <= maximum)
  }

  @Test func `what brings nothing at full speed is taken back`() {
    #expect(settle(maximum: 8) { _ in 2e9 }.last == 2)
  }

  @Test func `more are kept as long as they bring more`() {
    // Four are faster than two, eight no faster than four.
    #expect(settle(maximum: 8) { 1e9 * Double(min($0, 4)) }.last == 4)
  }

  @Test func `silence decides nothing`() {
    #expect(settle(maximum: 8) { _ in 0 }.last == 2)
  }
}

struct RateMeterTests {
  @Test func `the rate is that of the last seconds, and unknown before anything came`() {
    var meter = RateMeter(now: 0)
    #expect(meter.rate(now: 10) == nil)
    var bytes: Int64 = 0
    for step in 1...100 {
      bytes += 100_000
      meter.tick(bytes: bytes, now: Double(step) / 10)
    }
    let steady = meter.rate(now: 10) ?? 0
    #expect(abs(steady - 1e6) < 5e4)
    // Nothing more: it falls, and does not stay for ever.
    for step in 101...140 { meter.tick(bytes: bytes, now: Double(step) / 10) }
    #expect((meter.rate(now: 14) ?? 0) < 1e5)
  }
}
