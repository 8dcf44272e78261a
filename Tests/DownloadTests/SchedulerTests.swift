import Download
import Failure
import MerkleTree
import Testing

/// Transcripts: events and times go in, actions come out. How long spans are and how many of the
/// allowed connections are used is not said here.
@Suite struct SchedulerTests {
  private static let transient = FetchFailure(.unreachable, "no connection")
  private static let gone = FetchFailure(.httpStatus, "gone", httpStatus: 404)
  private static func mismatch(_ block: Int64) -> FetchFailure {
    FetchFailure(.blockMismatch, "block \(block)", block: block)
  }

  // MARK: The whole

  @Test(arguments: [1, 2, 3, 8, 64], [1, 2, 7, 65, 300] as [Int64])
  func `every missing block is asked for exactly once, and never over too many connections`(
    _ connections: Int, _ blocks: Int64
  ) throws {
    for claimed in [[], [0..<1], [blocks / 2..<blocks], [0..<blocks]] as [[Range<Int64>]] {
      var desk = try SchedulerDesk(blocks: blocks, claimed: claimed, connections: connections)
      var asked = BlockSet(universe: blocks)
      var queue: [Span] = []
      var bytes: Int64 = 0
      for _ in 0..<10_000 {
        for span in desk.starts() {
          #expect(!span.isWhole && !span.needsFreshConnection)
          #expect(asked.count(in: span.blocks) == 0)
          #expect(!span.blocks.isEmpty)
          asked.insert(span.blocks)
          queue.append(span)
        }
        #expect(queue.count == desk.scheduler.activeSpans)
        #expect(queue.count <= connections)
        guard !queue.isEmpty else { break }
        desk.now += 0.05
        let span = queue.removeFirst()
        bytes += Int64(span.blocks.count) << 20
        desk.scheduler.arrived(bytes: bytes, now: desk.now)
        desk.complete(span)
      }
      var expected = BlockSet(universe: blocks, full: true)
      for run in claimed { expected.remove(run) }
      #expect(asked == expected)
      for run in claimed { desk.scheduler.verified(run, span: nil, now: desk.now) }
      #expect(desk.scheduler.verdict == .done)
      #expect(desk.scheduler.wakeAt == nil)
      #expect(desk.scheduler.unsettledSpans == 0)
    }
  }

  @Test func `an empty resource is done at once`() throws {
    var desk = try SchedulerDesk(blocks: 0)
    #expect(desk.scheduler.verdict == .done)
    #expect(desk.starts() == [])
    #expect(desk.scheduler.wakeAt == nil)
  }

  @Test func `a claim that is no block after all is fetched`() throws {
    var desk = try SchedulerDesk(blocks: 4, claimed: [0..<4])
    #expect(desk.starts() == [])
    desk.scheduler.verified(0..<2, span: nil, now: desk.now)
    desk.scheduler.lost(2)
    let span = try #require(desk.starts().first)
    #expect(span.blocks == 2..<3)
    desk.complete(span)
    #expect(desk.scheduler.verdict == .running)
    desk.scheduler.lost(3)
    desk.finish()
  }

  // MARK: Broken transfers

  @Test func `a truncated span gives back only the rest`() throws {
    var desk = try SchedulerDesk(blocks: 8, connections: 1)
    let span = try #require(desk.starts().first)
    try #require(span.blocks.count >= 2)
    desk.deliver(span.blocks.lowerBound..<span.blocks.lowerBound + 1, of: span)
    desk.scheduler.ended(span.id, FetchFailure(.truncated, "broken"), now: desk.now)
    var asked = BlockSet(universe: 8)
    desk.now += 1
    while let next = desk.starts().first {
      asked.insert(next.blocks)
      desk.complete(next)
    }
    #expect(asked.runs == [1..<8])
    #expect(desk.scheduler.verdict == .done)
  }

  @Test func `blocks that are still being verified are not asked for again`() throws {
    var desk = try SchedulerDesk(blocks: 8, connections: 1)
    let span = try #require(desk.starts().first)
    let first = span.blocks.lowerBound..<span.blocks.lowerBound + 1
    desk.scheduler.received(first, span: span.id, now: desk.now)
    desk.scheduler.ended(span.id, FetchFailure(.truncated, "broken"), now: desk.now)
    for _ in 0..<20 {
      desk.now += 10
      for next in desk.starts() {
        #expect(!next.blocks.overlaps(first))
        desk.complete(next)
      }
    }
    #expect(desk.scheduler.verdict == .running)
    desk.scheduler.verified(first, span: span.id, now: desk.now)
    #expect(desk.scheduler.verdict == .done)
  }

  @Test func `what begins after a broken transfer uses a fresh connection, until blocks verify`()
    throws
  {
    var desk = try SchedulerDesk(blocks: 100, connections: 1)
    let span = try #require(desk.starts().first)
    desk.scheduler.ended(span.id, Self.transient, now: desk.now)
    let second = try #require(desk.starts().first)
    #expect(second.needsFreshConnection)
    desk.complete(second)
    #expect(desk.starts().first?.needsFreshConnection == false)
  }

  // MARK: Wrong blocks

  @Test func `a rejected block is asked for again alone and on a fresh connection`() throws {
    var desk = try SchedulerDesk(blocks: 40, connections: 2)
    let spans = desk.starts()
    let (span, other) = (try #require(spans.first), spans.dropFirst().first)
    try #require(span.blocks.count >= 3)
    let bad = span.blocks.lowerBound + 1
    desk.deliver(span.blocks.lowerBound..<bad, of: span)
    desk.scheduler.received(span.blocks, span: span.id, now: desk.now)
    #expect(desk.reject(bad, span, Self.mismatch(bad)) == [])
    desk.deliver(bad + 1..<span.blocks.upperBound, of: span)
    desk.scheduler.ended(span.id, nil, now: desk.now)
    // Something else that goes well does not make the block less suspect.
    if let other { desk.complete(other) }
    var again: [Span] = []
    for _ in 0..<100 {
      desk.now += 1
      for next in desk.starts() {
        if next.blocks.contains(bad) { again.append(next) }
        desk.complete(next)
      }
    }
    #expect(again.map(\.blocks) == [bad..<bad + 1])
    #expect(again.first?.needsFreshConnection == true)
    #expect(desk.scheduler.verdict == .done)
  }

  @Test func `five failures of one block end the run with that failure`() throws {
    var desk = try SchedulerDesk(blocks: 3, connections: 1)
    var count = 0
    while desk.scheduler.verdict == .running, count < 20 {
      for span in desk.starts() {
        desk.scheduler.received(span.blocks, span: span.id, now: desk.now)
        for block in span.blocks where block != 1 {
          desk.scheduler.verified(block..<block + 1, span: span.id, now: desk.now)
        }
        if span.blocks.contains(1) {
          count += 1
          _ = desk.reject(1, span, Self.mismatch(1))
        }
        desk.scheduler.ended(span.id, nil, now: desk.now)
      }
      desk.now = max(desk.now + 0.01, min(desk.scheduler.wakeAt ?? 0, desk.now + 60))
    }
    #expect(count == 5)
    #expect(desk.failed(Self.mismatch(1)))
    #expect(desk.scheduler.verified.contains(0) && !desk.scheduler.verified.contains(1))
    #expect(desk.scheduler.wakeAt == nil)
    #expect(desk.starts() == [])
  }

  @Test func `two rejections in a row cancel the span, and what was cancelled costs nothing`()
    throws
  {
    var desk = try SchedulerDesk(blocks: 40, connections: 1)
    let span = try #require(desk.starts().first)
    try #require(span.blocks.count >= 4)
    desk.scheduler.received(0..<3, span: span.id, now: desk.now)
    #expect(desk.reject(0, span, Self.mismatch(0)) == [])
    #expect(
      desk.reject(1, span, Self.mismatch(1))
        == [span.id])
    // It is cancelled once.
    #expect(desk.reject(2, span, Self.mismatch(2)) == [])
    desk.scheduler.ended(span.id, FetchFailure(.interrupted, "cancelled"), now: desk.now)
    desk.finish()
  }

  @Test func `a rejection here and there cancels nothing`() throws {
    var desk = try SchedulerDesk(blocks: 40, connections: 1)
    let span = try #require(desk.starts().first)
    try #require(span.blocks.count >= 4)
    desk.scheduler.received(span.blocks, span: span.id, now: desk.now)
    #expect(desk.reject(0, span, Self.mismatch(0)) == [])
    desk.scheduler.verified(1..<2, span: span.id, now: desk.now)
    #expect(desk.reject(2, span, Self.mismatch(2)) == [])
    desk.scheduler.verified(3..<span.blocks.upperBound, span: span.id, now: desk.now)
    desk.scheduler.ended(span.id, nil, now: desk.now)
    desk.finish()
  }

  @Test func `a verified block is never asked for again, whatever is said of it later`() throws {
    var desk = try SchedulerDesk(blocks: 4, connections: 1)
    let span = try #require(desk.starts().first)
    desk.deliver(0..<1, of: span)
    _ = desk.reject(0, span, Self.mismatch(0))
    desk.scheduler.lost(0)
    desk.scheduler.want(0..<1)
    desk.scheduler.ended(span.id, Self.transient, now: desk.now)
    for _ in 0..<10 {
      desk.now += 1
      for next in desk.starts() {
        #expect(!next.blocks.contains(0))
        desk.complete(next)
      }
    }
    #expect(desk.scheduler.verdict == .done)
  }

  @Test func `a status that is no use is asked again five times, and ends the run`() throws {
    var desk = try SchedulerDesk(blocks: 4, connections: 1)
    var count = 0
    while desk.scheduler.verdict == .running, count < 100 {
      for span in desk.starts() {
        count += 1
        desk.scheduler.ended(span.id, Self.gone, now: desk.now)
      }
      desk.now += 3
    }
    #expect(desk.failed(Self.gone))
    #expect((5...20).contains(count))
  }

  // MARK: Sources without ranges

  @Test func `a whole file of which the first four blocks are wrong is read no further`() throws {
    var desk = try SchedulerDesk(blocks: 30, connections: 1)
    let first = try #require(desk.starts().first)
    desk.scheduler.ended(first.id, FetchFailure(.rangeIgnored, "whole"), now: desk.now)
    desk.now += 0.1
    let whole = try #require(desk.starts().first)
    desk.scheduler.received(0..<4, span: whole.id, now: desk.now)
    for block in [0, 1, 2] as [Int64] {
      #expect(desk.reject(block, whole, Self.mismatch(block)) == [])
    }
    #expect(desk.reject(3, whole, Self.mismatch(3)) == [whole.id])
  }

  @Test func `what stops the stream speaks for the run, not that there are no ranges`() throws {
    var desk = try SchedulerDesk(blocks: 30, connections: 1)
    let first = try #require(desk.starts().first)
    desk.scheduler.ended(first.id, FetchFailure(.rangeIgnored, "whole"), now: desk.now)
    #expect(desk.scheduler.reports[0].refusals == [.rangeIgnored: 1])
    let silent = FetchFailure(.stalled, "silent")
    var streams = 0
    let end = desk.now + 3_600
    while case .running = desk.scheduler.verdict, desk.now < end {
      for span in desk.starts() {
        streams += 1
        #expect(span.isWhole)
        desk.scheduler.ended(span.id, silent, now: desk.now)
      }
      desk.now += 1
    }
    #expect(streams > 0)
    #expect(desk.failed(silent))
  }

  @Test func `a source without ranges is read in one sequential stream`() throws {
    var desk = try SchedulerDesk(blocks: 30, connections: 3)
    let spans = desk.starts()
    let ignored = FetchFailure(.rangeIgnored, "whole")
    for span in spans { desk.scheduler.ended(span.id, ignored, now: desk.now) }
    desk.now += 0.1
    let whole = desk.starts()
    #expect(whole.map(\.isWhole) == [true])
    #expect(whole.map(\.blocks) == [0..<30])
    let span = try #require(whole.first)
    // A block that is lost meanwhile waits, and nobody is woken for it.
    desk.scheduler.lost(29)
    desk.now += 1
    #expect(desk.starts() == [])
    #expect((desk.scheduler.wakeAt ?? 0) > desk.now)
    // Wrong blocks do not end the stream: the next ones may be right.
    desk.scheduler.received(0..<30, span: span.id, now: desk.now)
    for block in [0, 1, 2] as [Int64] {
      #expect(
        desk.reject(block, span, Self.mismatch(block)) == [])
    }
    desk.scheduler.verified(3..<30, span: span.id, now: desk.now)
    desk.scheduler.ended(span.id, nil, now: desk.now)
    desk.now += 5
    let again = desk.starts()
    #expect(again.map(\.isWhole) == [true])
    #expect(again.first?.needsFreshConnection == true)
    desk.complete(try #require(again.first))
    #expect(desk.scheduler.verdict == .done)
  }

  @Test func `the stream begins when the last span has ended`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 8)
    var spans = desk.starts()
    try #require(spans.count >= 2)
    let last = spans.removeLast()
    for span in spans {
      desk.scheduler.ended(span.id, FetchFailure(.rangeIgnored, "whole"), now: desk.now)
    }
    desk.now += 1
    #expect(desk.starts() == [])
    desk.complete(last)
    #expect(desk.starts().map(\.isWhole) == [true])
  }
}
