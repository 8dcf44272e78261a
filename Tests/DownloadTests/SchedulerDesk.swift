import Download
import Failure
import MerkleTree
import TestSupport
import Testing

/// A scheduler under test, and a clock that a test moves.
struct SchedulerDesk {
  var scheduler: Scheduler
  var now = 1_000.0
  /// What has to be kept of sources, in the order in which it was said.
  var records: [String] = []
  /// Started, and not yet given to the test.
  private var stash: [Span] = []

  init(
    blocks: Int64, blockSize: Int64 = 1 << 20, claimed: [Range<Int64>] = [],
    connections: Int = 4, giveUpAfter: Double = 600,
    reservedBlocks: Int64 = .max,
    sources: [SourceSeed] = [SourceSeed(name: "https://a.example/")]
  ) throws {
    let layout = try #require(BlockLayout(size: blocks * blockSize, blockSize: blockSize))
    var set = BlockSet(universe: blocks)
    for run in claimed { set.insert(run) }
    scheduler = Scheduler(
      layout: layout, sources: sources, claimed: set, connections: connections,
      reservedBlocks: reservedBlocks,
      policy: RetryPolicy(giveUpAfter: giveUpAfter), now: now, random: SeededGenerator(seed: 1))
  }

  /// What it starts now. A transfer that it ends now is an issue.
  mutating func starts(sourceLocation: SourceLocation = #_sourceLocation) -> [Span] {
    let cancelled = look()
    if !cancelled.isEmpty { Issue.record("\(cancelled)", sourceLocation: sourceLocation) }
    defer { stash = [] }
    return stash
  }

  /// Lets it decide. - Returns: the transfers that it ends now.
  mutating func look() -> [Span.ID] {
    var cancelled: [Span.ID] = []
    for action in scheduler.next(now: now) {
      switch action {
      case .start(let span): stash.append(span)
      case .cancel(let id): cancelled.append(id)
      case .record(let source, let record): records.append("\(source) \(record)")
      }
    }
    return cancelled
  }

  /// - Returns: the transfers that it ends for it.
  mutating func reject(_ block: Int64, _ span: Span, _ failure: FetchFailure) -> [Span.ID] {
    scheduler.rejected(block, span: span.id, failure, now: now)
    return look()
  }

  mutating func deliver(_ blocks: Range<Int64>, of span: Span) {
    scheduler.received(blocks, span: span.id, now: now)
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
