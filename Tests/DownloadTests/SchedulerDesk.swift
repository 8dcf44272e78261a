import Download
import Failure
import MerkleTree
import TestSupport
import Testing

/// A scheduler under test, and a clock that a test moves.
struct SchedulerDesk {
  var scheduler: Scheduler
  var now = 1_000.0

  init(
    blocks: Int64, blockSize: Int64 = 1 << 20, claimed: [Range<Int64>] = [],
    connections: Int = 4, giveUpAfter: Double = 600
  ) throws {
    let layout = try #require(BlockLayout(size: blocks * blockSize, blockSize: blockSize))
    var set = BlockSet(universe: blocks)
    for run in claimed { set.insert(run) }
    scheduler = Scheduler(
      layout: layout, claimed: set, connections: connections,
      policy: RetryPolicy(giveUpAfter: giveUpAfter), now: now, random: SeededGenerator(seed: 1))
  }

  /// What it starts now. Anything else is an issue.
  mutating func starts(sourceLocation: SourceLocation = #_sourceLocation) -> [Span] {
    scheduler.next(now: now).compactMap { action in
      if case .start(let span) = action { return span }
      Issue.record("\(action)", sourceLocation: sourceLocation)
      return nil
    }
  }

  mutating func deliver(_ blocks: Range<Int64>, of span: Span) {
    scheduler.received(blocks, span: span.id)
    scheduler.verified(blocks, span: span.id, now: now)
  }

  /// All of a span, as an honest source sends it.
  mutating func complete(_ span: Span) {
    deliver(span.blocks, of: span)
    scheduler.ended(span.id, nil, now: now)
  }

  /// Lets an honest source do the rest.
  mutating func finish(sourceLocation: SourceLocation = #_sourceLocation) {
    for _ in 0..<10_000 where scheduler.verdict == .running {
      let spans = starts(sourceLocation: sourceLocation)
      if spans.isEmpty, let wake = scheduler.wakeAt { now = max(now, wake) }
      for span in spans {
        now += 0.1
        complete(span)
      }
    }
    #expect(scheduler.verdict == .done, sourceLocation: sourceLocation)
  }

  func failed(_ failure: FetchFailure) -> Bool {
    guard case .failed(let found) = scheduler.verdict else { return false }
    return found.category == failure.category && found.message == failure.message
  }
}
