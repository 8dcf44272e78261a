import Testing

@testable import Transport

/// Many transfers that share one rate.
struct RateQueueTests {
  private let ids = (0..<16).map { _ in TransferID.next() }

  @Test func `each has its turn before anybody has the next`() {
    var queue = RateQueue(bytesPerSecond: 1_000, now: 0)
    var pieces: [TransferID: Int] = [:]
    // Everybody has something to hand over at any time, the first one before all others.
    func offer(_ id: TransferID, now: Double) {
      while queue.take(100, by: id, now: now) { pieces[id, default: 0] += 1 }
    }
    offer(TransferID.next(), now: 0)
    for id in ids { offer(id, now: 0) }
    for turn in 1...1_000 {
      let now = Double(turn) * 0.01
      while let id = queue.next(now: now) { offer(id, now: now) }
      let counts = ids.map { pieces[$0, default: 0] }
      #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1, "\(counts)")
    }
    // And the rate is what it should be.
    #expect(abs(pieces.values.reduce(0, +) - 100) <= 2)
  }

  @Test func `nobody overtakes who is held back`() {
    var queue = RateQueue(bytesPerSecond: 1_000, now: 0)
    let first = [0, 1].map { queue.take(500, by: ids[$0], now: 0) }
    #expect(first == [true, false])
    let (late, next) = (queue.take(1, by: ids[2], now: 0.6), queue.next(now: 0.6))
    #expect(!late && next == ids[1])
    let (later, own) = (queue.take(1, by: ids[0], now: 0.6), queue.take(1, by: ids[1], now: 0.6))
    #expect(!later && own)
    let rest = [queue.next(now: 0.6), queue.next(now: 0.6), queue.next(now: 0.6)]
    #expect(rest == [ids[2], ids[0], nil])
  }

  @Test func `only who is held back is waited for`() {
    var queue = RateQueue(bytesPerSecond: 1_000, now: 0)
    let isTaken = queue.take(500, by: ids[0], now: 0)
    #expect(isTaken && queue.wait(now: 0) == nil)
    let isHeld = !queue.take(500, by: ids[1], now: 0)
    #expect(isHeld && queue.wait(now: 0) == 0.5)
    let early = queue.next(now: 0.4)
    #expect(early == nil)
    queue.remove(ids[1])
    let next = queue.next(now: 1)
    #expect(next == nil && queue.wait(now: 1) == nil)
  }
}
