import Download
import Failure
import MerkleTree
import TestSupport
import Testing

/// Random sources under a simulated clock: whatever they do, a run ends; and if they are honest often
/// enough, it ends with every block.
@Suite struct SchedulerSimulationTests {
  @Test(arguments: 0..<150 as Range<UInt64>)
  func `a run with a source that is honest often enough ends with every block`(
    _ seed: UInt64
  ) throws {
    var simulation = try Simulation(seed: seed, giveUpAfter: 1e12, faults: 40)
    try simulation.run()
    #expect(simulation.scheduler.verdict == .done)
  }

  @Test(arguments: 0..<150 as Range<UInt64>)
  func `a run ends whatever the source does`(_ seed: UInt64) throws {
    var simulation = try Simulation(seed: seed, giveUpAfter: 600, faults: .max)
    try simulation.run()
    #expect(simulation.scheduler.verdict != .running)
    // And within the patience after the last block that verified.
    #expect(simulation.now - simulation.lastVerified <= 601)
    if case .failed(let failure) = simulation.scheduler.verdict {
      #expect([3, 4].contains(failure.exitCode))
    }
  }
}

/// A scheduler, a source, and the events between them, in the order of time.
private struct Simulation {
  private(set) var scheduler: Scheduler
  private(set) var now = 0.0
  private(set) var lastVerified = 0.0
  private let blocks: Int64
  private let connections: Int
  private var random: SeededGenerator
  private var events: [(time: Double, event: Event)] = []
  private var active: [Span.ID: Span] = [:]
  /// What was handed over for verification, of each span.
  private var handedOver: [Span.ID: BlockSet] = [:]
  private var cancelled: Set<Span.ID> = []
  /// How many faults the source still has in it, and how often each block was wrong.
  private var faults: Int
  private var wrong: [Int64: Int] = [:]
  private let servesRanges: Bool
  private var arrived: Int64 = 0

  private enum Event {
    case received(Range<Int64>, Span.ID)
    case verified(Int64, Span.ID?)
    case rejected(Int64, Span.ID)
    case ended(Span.ID, FetchFailure?)
    case lost(Int64)
  }

  init(seed: UInt64, giveUpAfter: Double, faults: Int) throws {
    random = SeededGenerator(seed: seed)
    self.faults = faults
    blocks = .random(in: 1...60, using: &random)
    connections = .random(in: 1...10, using: &random)
    servesRanges = Int.random(in: 0..<5, using: &random) > 0
    let layout = try #require(BlockLayout(size: blocks << 20, blockSize: 1 << 20))
    var claimed = BlockSet(universe: blocks)
    if Bool.random(using: &random) { claimed.insert(blocks / 3..<blocks / 2) }
    scheduler = Scheduler(
      layout: layout, sources: [SourceSeed(name: "https://a.example/")], claimed: claimed,
      connections: connections,
      policy: RetryPolicy(giveUpAfter: giveUpAfter), now: 0, random: random)
    for run in claimed.runs {
      for block in run {
        let isThere = Bool.random(using: &random)
        add(isThere ? .verified(block, nil) : .lost(block), in: 0...30)
      }
    }
  }

  mutating func run() throws {
    var idle = 0
    for _ in 0..<50_000 {
      for action in scheduler.next(now: now) { perform(action) }
      #expect(active.count == scheduler.activeSpans)
      guard scheduler.verdict == .running else { return }
      let next = events.indices.min { events[$0].time < events[$1].time }
      let wake = scheduler.wakeAt
      if let next, events[next].time <= max(now, wake ?? .infinity) {
        let (time, event) = events.remove(at: next)
        now = max(now, time)
        handle(event)
        idle = 0
      } else {
        // Nothing will happen by itself: the scheduler has to know when to go on.
        now = max(now, try #require(wake, "nothing to wait for"))
        idle += 1
        try #require(idle < 5, "woken again and again for nothing")
      }
    }
    Issue.record("no end")
  }

  private mutating func add(_ event: Event, in range: ClosedRange<Double>) {
    events.append((now + .random(in: range, using: &random), event))
  }

  private mutating func perform(_ action: Scheduler.Action) {
    switch action {
    case .start(let span):
      #expect(active.count < connections)
      // A block is on its way once; one that came and was wrong may come again.
      for (id, other) in active where other.blocks.overlaps(span.blocks) {
        let both = other.blocks.clamped(to: span.blocks)
        #expect(handedOver[id]?.count(in: both) == Int64(both.count))
      }
      active[span.id] = span
      handedOver[span.id] = BlockSet(universe: blocks)
      serve(span)
    case .record:
      break
    case .cancel(let id):
      cancelled.insert(id)
      // What was on its way to be verified comes all the same.
      events.removeAll { if case .ended(id, _) = $0.event { true } else { false } }
      add(.ended(id, FetchFailure(.interrupted, "cancelled")), in: 0...0.5)
    }
  }

  /// Decides at once how a transfer will go.
  private mutating func serve(_ span: Span) {
    if !span.isWhole, !servesRanges {
      return add(.ended(span.id, FetchFailure(.rangeIgnored, "whole")), in: 0.01...1)
    }
    var failure: FetchFailure?
    var end = span.blocks.upperBound
    var (shortest, longest) = (0.001, 0.3)
    if faults > 0, Int.random(in: 0..<3, using: &random) == 0 {
      faults -= 1
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        failure = FetchFailure(.unreachable, "no connection")
        end = span.blocks.lowerBound
      case 1:
        failure = FetchFailure(.truncated, "broken")
        end = .random(in: span.blocks.lowerBound...span.blocks.upperBound, using: &random)
      case 2:
        failure = FetchFailure(.stalled, "slow")
        end = .random(in: span.blocks.lowerBound...span.blocks.upperBound, using: &random)
        (shortest, longest) = (20, 21)
      case 3:
        // A fault of the content: few for each block where the source is to be honest often enough.
        if wrong[span.blocks.lowerBound, default: 0] < 3 || faults > 1_000 {
          wrong[span.blocks.lowerBound, default: 0] += 1
          failure = FetchFailure(.httpStatus, "gone", httpStatus: 404)
          end = span.blocks.lowerBound
        }
      case 4:
        failure = FetchFailure(.httpStatus, "busy", httpStatus: 503)
        end = span.blocks.lowerBound
      default:
        (shortest, longest) = (5, 15)
      }
    }
    let mayLie = faults > 0 && Int.random(in: 0..<4, using: &random) == 0
    var time = now
    for block in span.blocks.lowerBound..<end {
      time += .random(in: shortest...longest, using: &random) / 10
      events.append((time, .received(block..<block + 1, span.id)))
      let isWrong =
        mayLie && faults > 0 && Int.random(in: 0..<3, using: &random) == 0
        && (wrong[block, default: 0] < 3 || faults > 1_000)
      if isWrong {
        wrong[block, default: 0] += 1
        faults -= 1
      }
      let verdict: Event = isWrong ? .rejected(block, span.id) : .verified(block, span.id)
      events.append((time + .random(in: 0...0.2, using: &random), verdict))
    }
    events.append(
      (time + .random(in: shortest...longest, using: &random), .ended(span.id, failure)))
  }

  private mutating func handle(_ event: Event) {
    switch event {
    case .received(let blocks, let span):
      guard active[span] != nil, !cancelled.contains(span) else { return }
      scheduler.received(blocks, span: span, now: now)
      handedOver[span]?.insert(blocks)
      arrived += 1 << 20
      scheduler.arrived(bytes: arrived, now: now)
    case .verified(let block, let span):
      // What was never handed over is not verified.
      if let span, handedOver[span]?.contains(block) != true { return }
      if span != nil, !scheduler.verified.contains(block) { lastVerified = now }
      scheduler.verified(block..<block + 1, span: span, now: now)
    case .rejected(let block, let span):
      guard handedOver[span]?.contains(block) == true else { return }
      let failure = FetchFailure(.blockMismatch, "block \(block)", block: block)
      scheduler.rejected(block, span: span, failure, now: now)
    case .ended(let span, let failure):
      active[span] = nil
      scheduler.ended(span, failure, now: now)
    case .lost(let block):
      scheduler.lost(block)
    }
  }
}
