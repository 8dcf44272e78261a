import Download
import Failure
import MerkleTree
import TestSupport
import Testing

/// Several sources under a simulated clock, each good or bad in a way of its own.
struct ManySourcesWorld {
  enum Conduct: Sendable, CaseIterable {
    case good, lies, stalls, truncates, busy, alternates, closesEverySecond, gone, noRanges, refuses
  }

  let conducts: [Conduct]
  private(set) var scheduler: Scheduler
  private(set) var now = 0.0
  /// Bytes that came from each source, of use or not.
  private(set) var traffic: [Int64]
  private(set) var requests: [Int]
  private(set) var records: [(source: SourceID, record: SourceRecord)] = []
  private var events: [(time: Double, number: Int, event: Event)] = []
  private var number = 0
  private var active: [Span.ID: Span] = [:]
  private var arrived: Int64 = 0
  private var came: [Span.ID: Int64] = [:]

  private enum Event {
    /// So much of it in all.
    case arrived(Int64, Span.ID)
    case received(Int64, Span.ID)
    case verified(Int64, Span.ID)
    case rejected(Int64, Span.ID)
    case ended(Span.ID, FetchFailure?)
  }

  static let blockSize: Int64 = 1 << 20
  /// Seconds that one connection takes for a block.
  var blockTime = 0.1
  static let latency = 0.05

  init(
    _ conducts: [Conduct], blocks: Int64, connections: Int = 8, giveUpAfter: Double = 600,
    seeds: [SourceSeed]? = nil
  ) throws {
    self.conducts = conducts
    traffic = conducts.map { _ in 0 }
    requests = conducts.map { _ in 0 }
    scheduler = Scheduler(
      layout: try #require(
        BlockLayout(size: blocks * Self.blockSize, blockSize: Self.blockSize)),
      sources: seeds ?? conducts.indices.map { SourceSeed(name: "https://\($0).example/") },
      claimed: BlockSet(universe: blocks), connections: connections,
      policy: RetryPolicy(giveUpAfter: giveUpAfter), now: 0, random: SeededGenerator(seed: 3))
  }

  /// Runs until the scheduler says how it ended.
  mutating func run() throws {
    for _ in 0..<200_000 {
      for action in scheduler.next(now: now) { perform(action) }
      guard scheduler.verdict == .running else { return }
      let next = events.indices.min {
        (events[$0].time, events[$0].number) < (events[$1].time, events[$1].number)
      }
      if let next, events[next].time <= max(now, scheduler.wakeAt ?? .infinity) {
        let (time, _, event) = events.remove(at: next)
        now = max(now, time)
        handle(event)
      } else {
        now = max(now + 0.001, try #require(scheduler.wakeAt, "nothing to wait for"))
      }
    }
    Issue.record("no end")
  }

  func bytes(from source: SourceID) -> Int64 { scheduler.reports[source].bytes }

  private mutating func add(_ event: Event, at time: Double) {
    number += 1
    events.append((time, number, event))
  }

  private mutating func perform(_ action: Scheduler.Action) {
    switch action {
    case .start(let span):
      active[span.id] = span
      requests[span.source] += 1
      serve(span, as: conducts[span.source], request: requests[span.source])
    case .cancel(let id):
      events.removeAll {
        switch $0.event {
        case .arrived(_, id), .received(_, id), .ended(id, _): true
        case .arrived, .verified, .rejected, .received, .ended: false
        }
      }
      add(.ended(id, FetchFailure(.interrupted, "cancelled")), at: now + 0.01)
    case .record(let source, let record):
      records.append((source, record))
    }
  }

  private mutating func serve(_ span: Span, as conduct: Conduct, request: Int) {
    let first = now + Self.latency
    switch conduct {
    case .good: send(span, span.blocks, isRight: { _ in true })
    case .lies: send(span, span.blocks, isRight: { _ in false })
    case .alternates: send(span, span.blocks, isRight: { _ in request % 2 == 0 })
    case .stalls:
      add(.ended(span.id, FetchFailure(.stalled, "silent")), at: now + 20)
    case .truncates:
      let half = span.blocks.lowerBound..<span.blocks.lowerBound + Int64(span.blocks.count) / 2
      send(span, half, isRight: { _ in true }, FetchFailure(.truncated, "cut"))
    case .busy:
      add(.ended(span.id, FetchFailure(.httpStatus, "503", httpStatus: 503)), at: first)
    case .closesEverySecond:
      guard request % 2 == 0, !span.needsFreshConnection else {
        return send(span, span.blocks, isRight: { _ in true })
      }
      var failure = FetchFailure(.truncated, "closed")
      failure.exchange.wasReused = true
      failure.exchange.wasUnprocessed = true
      add(.ended(span.id, failure), at: first)
    case .gone:
      add(.ended(span.id, FetchFailure(.httpStatus, "404", httpStatus: 404)), at: first)
    case .noRanges:
      guard span.isWhole else {
        return add(.ended(span.id, FetchFailure(.rangeIgnored, "whole")), at: first)
      }
      send(span, span.blocks, isRight: { _ in true })
    case .refuses:
      add(.ended(span.id, FetchFailure(.unreachable, "refused")), at: first)
    }
  }

  private mutating func send(
    _ span: Span, _ blocks: Range<Int64>, isRight: (Int64) -> Bool, _ failure: FetchFailure? = nil
  ) {
    var time = now + Self.latency
    for block in blocks {
      // One that takes long is seen to come.
      let sent = (block - span.blocks.lowerBound) * Self.blockSize
      let pieces: Int64 = blockTime > 0.25 ? 4 : 1
      for piece in 1...pieces {
        add(
          .arrived(sent + Self.blockSize / pieces * piece, span.id),
          at: time + Double(piece) * blockTime / Double(pieces))
      }
      time += blockTime
      add(.received(block, span.id), at: time)
      add(
        isRight(block) ? .verified(block, span.id) : .rejected(block, span.id), at: time + 0.01)
    }
    add(.ended(span.id, failure), at: time + 0.001)
  }

  private mutating func handle(_ event: Event) {
    switch event {
    case .arrived(let bytes, let id):
      guard let span = active[id] else { return }
      let fresh = bytes - (came[id] ?? 0)
      came[id] = bytes
      arrived += fresh
      traffic[span.source] += fresh
      scheduler.arrived(bytes: arrived, now: now)
      scheduler.arrived(bytes: bytes, span: id)
    case .received(let block, let id):
      guard active[id] != nil else { return }
      scheduler.received(block..<block + 1, span: id, now: now)
      received.insert(Pair(block, id))
    case .verified(let block, let id):
      guard received.remove(Pair(block, id)) != nil else { return }
      scheduler.verified(block..<block + 1, span: id, now: now)
    case .rejected(let block, let id):
      guard received.remove(Pair(block, id)) != nil else { return }
      scheduler.rejected(
        block, span: id, FetchFailure(.blockMismatch, "block \(block)", block: block), now: now)
    case .ended(let id, let failure):
      guard active.removeValue(forKey: id) != nil else { return }
      scheduler.ended(id, failure, now: now)
    }
  }

  /// What was handed over and is still being verified.
  private var received: Set<Pair> = []

  private struct Pair: Hashable {
    var block: Int64
    var span: Span.ID
    init(_ block: Int64, _ span: Span.ID) { (self.block, self.span) = (block, span) }
  }
}
