import Failure
import Testing

@testable import Download

/// Sources beside each other, of which one is slow.
@Suite struct TakeoverTests {
  private typealias World = ManySourcesWorld

  private let sources = [
    SourceSeed(name: "https://a.example/"), SourceSeed(name: "https://b.example/"),
  ]

  @Test("sources of which a block takes long are let finish it", arguments: [1.0, 3.5, 20])
  func longBlocks(_ seconds: Double) throws {
    let blocks: Int64 = 120
    var world = try World([.good, .good, .good, .good], blocks: blocks)
    world.blockTime = seconds
    try world.run()
    #expect(world.scheduler.verdict == .done)
    for source in 0..<4 {
      #expect(world.bytes(from: source) > blocks * World.blockSize / 8, "\(source)")
    }
    let all = world.traffic.reduce(0, +)
    #expect(all < (blocks + 12) * World.blockSize, "\(all / World.blockSize) blocks came")
  }

  /// One source holds a long span of which a little came; all else is there, and the other is idle.
  private func slowOne(_ desk: inout SchedulerDesk) throws -> (slow: Span, helper: Span) {
    var slow: Span?
    for _ in 0..<100 {
      for span in desk.starts() {
        if span.source == 0, slow == nil {
          slow = span
          desk.deliver(span.blocks.lowerBound..<span.blocks.lowerBound + 1, of: span)
        } else if let slow, slow.blocks.contains(span.blocks.lowerBound) {
          return (slow, span)
        } else {
          desk.now += 0.1
          desk.complete(span)
        }
      }
      desk.now += 1
    }
    throw Unexpected()
  }

  private struct Unexpected: Error {}

  @Test("a takeover that breaks off is begun again", arguments: [true, false])
  func broken(_ helperFails: Bool) throws {
    var desk = try SchedulerDesk(blocks: 40, connections: 2, sources: sources)
    let (slow, helper) = try slowOne(&desk)
    let failure = FetchFailure(.truncated, "broken off")
    if helperFails {
      desk.deliver(helper.blocks.lowerBound..<helper.blocks.lowerBound + 1, of: helper)
      desk.scheduler.ended(helper.id, failure, now: desk.now)
    } else {
      // The slow one ends, and the other one trickles now.
      desk.scheduler.ended(slow.id, failure, now: desk.now)
      desk.deliver(helper.blocks.lowerBound..<helper.blocks.lowerBound + 1, of: helper)
    }
    var next: Span?
    for _ in 0..<60 where next == nil {
      desk.now += 1
      next = desk.starts().first
    }
    let span = try #require(next, "nobody takes over")
    // Not what is there already.
    #expect(span.blocks.lowerBound == helper.blocks.lowerBound + 1)
    #expect(span.blocks.upperBound == slow.blocks.upperBound)
    #expect(span.source == (helperFails ? 1 : 0))
    desk.complete(span)
    let loser = helperFails ? slow : helper
    #expect(desk.look() == [loser.id])
    desk.scheduler.ended(loser.id, FetchFailure(.interrupted, "cancelled"), now: desk.now)
    desk.finish()
  }

  @Test("a takeover asks for no more than there is memory for, and then for the rest")
  func bounded() throws {
    var desk = try SchedulerDesk(
      blocks: 64, connections: 2, reservedBlocks: 2, sources: sources)
    var needs = FetchFailure(.tls, "no application protocol")
    needs.exchange.needsHTTP2 = true
    let first = desk.starts()
    let probe = try #require(first.first { $0.source == 1 })
    let slow = try #require(first.first { $0.source == 0 })
    desk.scheduler.ended(probe.id, needs, now: desk.now)
    desk.deliver(slow.blocks.lowerBound..<slow.blocks.lowerBound + 1, of: slow)
    // From the front, in pieces that fit, up to the end of what the slow one was asked for.
    var taken: [Range<Int64>] = []
    for _ in 0..<200 where desk.scheduler.verified.count < 64 {
      for span in desk.starts() {
        if span.source == 1 { #expect(span.usesHTTP2 && span.blocks.count <= 2) }
        if slow.blocks.overlaps(span.blocks) { taken.append(span.blocks) }
        desk.now += 0.1
        desk.complete(span)
      }
      desk.now += 1
    }
    #expect(desk.scheduler.verdict == .done)
    #expect(taken.count > 2 && taken.reduce(0) { $0 + $1.count } == slow.blocks.count - 1)
  }
}
