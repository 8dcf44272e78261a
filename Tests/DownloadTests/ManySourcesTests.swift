@testable import Download
import Failure
import MerkleTree
import Testing

/// One honest source is enough, whatever the others do.
@Suite struct ManySourcesTests {
  private typealias World = ManySourcesWorld
  private static let blocks: Int64 = 600

  private func run(
    _ conducts: [ManySourcesWorld.Conduct], giveUpAfter: Double = 600,
    seeds: [SourceSeed]? = nil
  ) throws -> ManySourcesWorld {
    var world = try World(
      conducts, blocks: Self.blocks, giveUpAfter: giveUpAfter, seeds: seeds)
    try world.run()
    return world
  }

  // MARK: Seven bad, one good

  @Test(
    "seven sources that are bad in one way cost little time and little traffic",
    arguments: ManySourcesWorld.Conduct.allCases, [0, 7])
  func sevenBad(_ conduct: ManySourcesWorld.Conduct, _ place: Int) throws {
    let alone = try run([.good])
    var conducts = Array(repeating: conduct, count: 8)
    conducts[place] = .good
    let world = try run(conducts)
    #expect(world.scheduler.verdict == .done)
    #expect(world.now <= 1.5 * alone.now, "\(world.now) s, alone \(alone.now) s")
    #expect(world.traffic.reduce(0, +) <= 3 * Self.blocks * World.blockSize)
  }

  @Test("seven sources, each bad in another way, cost little too, and each is named")
  func allKinds() throws {
    let alone = try run([.good])
    let conducts: [ManySourcesWorld.Conduct] = [
      .lies, .stalls, .truncates, .busy, .alternates, .closesEverySecond, .gone, .good,
    ]
    let world = try run(conducts)
    #expect(world.scheduler.verdict == .done)
    #expect(world.now <= 1.5 * alone.now, "\(world.now) s, alone \(alone.now) s")
    #expect(world.traffic.reduce(0, +) <= 3 * Self.blocks * World.blockSize)
    let refusals = world.scheduler.reports.map { Set($0.refusals.keys) }
    #expect(refusals[0] == [.blockMismatch])
    #expect(refusals[1].isSubset(of: [.stalled]))
    #expect(refusals[3] == [.httpStatus])
    #expect(refusals[4] == [.blockMismatch])
    #expect(refusals[6] == [.httpStatus])
    #expect(refusals[7].isEmpty)
    let sum = world.scheduler.reports.reduce(0) { $0 + $1.bytes }
    #expect(sum == Self.blocks * World.blockSize)
  }

  @Test("two good sources share the work by what they give")
  func shared() throws {
    let world = try run([.good, .good])
    #expect(world.scheduler.verdict == .done)
    #expect(world.bytes(from: 0) > 100 * World.blockSize)
    #expect(world.bytes(from: 1) > 100 * World.blockSize)
  }

  // MARK: Alone

  @Test("a source that lies and is alone ends the run within bounds, and is not held")
  func lyingAlone() throws {
    let world = try run([.lies])
    guard case .failed(let failure) = world.scheduler.verdict else {
      Issue.record("\(world.scheduler.verdict)")
      return
    }
    #expect(failure.category == .blockMismatch && failure.exitCode == 4)
    #expect(world.requests[0] <= 30)
    #expect(!world.records.contains { $0.record == .held })
  }

  @Test("a silent source alone ends the run within the patience, to be resumed")
  func silentAlone() throws {
    let world = try run([.stalls], giveUpAfter: 100)
    guard case .failed(let failure) = world.scheduler.verdict else {
      Issue.record("\(world.scheduler.verdict)")
      return
    }
    #expect(failure.exitCode == 3)
    #expect(world.now <= 100)
  }

  @Test("two liars are held one after the other until one is left, and the run ends")
  func twoLiars() throws {
    let world = try run([.lies, .lies])
    guard case .failed(let failure) = world.scheduler.verdict else {
      Issue.record("\(world.scheduler.verdict)")
      return
    }
    #expect(failure.exitCode == 4)
    #expect(world.records.count { $0.record == .held } == 1)
    #expect(world.requests.reduce(0, +) <= 40)
  }

  @Test("what failed in a way that may pass makes the run one to be resumed")
  func mixedFailures() throws {
    let world = try run([.lies, .refuses], giveUpAfter: 30)
    guard case .failed(let failure) = world.scheduler.verdict else {
      Issue.record("\(world.scheduler.verdict)")
      return
    }
    #expect(failure.category == .unreachable)
  }

  // MARK: What earlier runs have left

  private func seed(_ index: Int, failures: UInt32 = 0, wait: Double = 0, held: Double = 0)
    -> SourceSeed
  {
    var seed = SourceSeed(name: "https://\(index).example/")
    (seed.failures, seed.wait, seed.held) = (failures, wait, held)
    return seed
  }

  @Test("a source in a wait of an earlier run is not asked before it is over")
  func waiting() throws {
    let world = try run(
      [.good, .good], seeds: [seed(0, failures: 9, wait: 10_800), seed(1)])
    #expect(world.scheduler.verdict == .done)
    #expect(world.requests[0] == 0)
    #expect(world.records.isEmpty)
  }

  @Test("if every wait is longer than the patience, the run ends at once and names the time left")
  func allWaiting() throws {
    let world = try run(
      [.good, .good],
      seeds: [seed(0, failures: 9, wait: 10_800), seed(1, failures: 8, wait: 3_000)])
    guard case .failed(let failure) = world.scheduler.verdict else {
      Issue.record("\(world.scheduler.verdict)")
      return
    }
    #expect(world.now == 0 && world.requests == [0, 0])
    #expect(failure.exitCode == 3)
    #expect(failure.hint?.contains("in 3000 s") == true, "\(failure.hint ?? "")")
  }

  @Test("a source that works again puts its record away")
  func recovered() throws {
    let world = try run([.good], seeds: [seed(0, failures: 4, wait: 2)])
    #expect(world.scheduler.verdict == .done)
    #expect(world.records.map(\.record) == [.succeeded])
  }

  @Test("one that fails again climbs on from where it stood")
  func climbing() throws {
    let world = try run([.refuses, .good], seeds: [seed(0, failures: 6), seed(1)])
    #expect(world.scheduler.verdict == .done)
    #expect(world.records.map(\.record) == [.failed(7, atLeast: 0)])
    #expect(world.requests[0] == 1)
  }

  @Test("a held source is asked only if no other is left")
  func held() throws {
    let beside = try run([.good, .good], seeds: [seed(0, held: 80_000), seed(1)])
    #expect(beside.scheduler.verdict == .done)
    #expect(beside.requests[0] == 0)
    let alone = try run([.good, .gone], seeds: [seed(0, held: 80_000), seed(1)])
    #expect(alone.scheduler.verdict == .done)
    #expect(alone.bytes(from: 0) == Self.blocks * World.blockSize)
    // One that is only waited for does not finish it either.
    let waiting = try run([.good, .refuses], seeds: [seed(0, held: 80_000), seed(1)])
    #expect(waiting.scheduler.verdict == .done)
    #expect(waiting.bytes(from: 0) == Self.blocks * World.blockSize)
  }

  @Test("a held source is asked for the one block and the one tile that the other cannot give")
  func heldForOne() throws {
    var desk = try SchedulerDesk(
      blocks: 4, connections: 1, sources: [seed(0, held: 80_000), seed(1)])
    var last: [Span] = []
    for _ in 0..<200 where desk.scheduler.verdict == .running && !desk.scheduler.isVerified(0..<4) {
      for span in desk.starts() {
        last.append(span)
        for block in span.blocks {
          desk.scheduler.received(block..<block + 1, span: span.id, now: desk.now)
          if block == 2, span.source == 1 {
            desk.scheduler.rejected(
              block, span: span.id, FetchFailure(.blockMismatch, "rotten", block: block),
              now: desk.now)
          } else {
            desk.scheduler.verified(block..<block + 1, span: span.id, now: desk.now)
          }
        }
        desk.scheduler.ended(span.id, nil, now: desk.now)
      }
      desk.now = max(desk.now + 0.001, desk.scheduler.wakeAt ?? 0)
    }
    #expect(desk.scheduler.verdict == .done)
    #expect(last.last?.source == 0 && last.last?.blocks == 2..<3)
    #expect(last.count { $0.source == 0 } == 1)

    var other = try SchedulerDesk(
      blocks: 4, connections: 1, sources: [seed(0, held: 80_000), seed(1)])
    let tile = TileAddress(level: 0, index: 0, width: 4)
    for _ in 0..<100 where other.scheduler.source(for: tile, now: other.now) != 0 {
      if let source = other.scheduler.source(for: tile, now: other.now) {
        other.scheduler.requested(tile, from: source)
        other.scheduler.tileFailed(tile, FetchFailure(.tileInvalid, "rotten"), now: other.now)
      }
      other.now += 1
    }
    #expect(other.scheduler.source(for: tile, now: other.now) == 0)
    #expect(other.scheduler.verdict == .running)
  }

  // MARK: What has healed

  @Test("a refusal that has healed does not speak for the run")
  func healed() throws {
    var desk = try SchedulerDesk(
      blocks: 400, connections: 2, giveUpAfter: 100, sources: [seed(0), seed(1)])
    let refusal = FetchFailure(.httpStatus, "404", httpStatus: 404)
    // Each fails at a block, and at a tile, that the other one gives then.
    for span in desk.starts() { desk.scheduler.ended(span.id, refusal, now: desk.now) }
    let tile = TileAddress(level: 0, index: 0, width: 256)
    for source in [0, 1] {
      desk.scheduler.requested(tile, from: source)
      desk.scheduler.tileFailed(tile, refusal, now: desk.now)
    }
    #expect(desk.scheduler.attempts.count == 2 && desk.scheduler.tileAttempts.count == 1)
    desk.scheduler.received(tile, now: desk.now)
    for _ in 0..<20 where !desk.scheduler.attempts.isEmpty {
      desk.now += 30
      for span in desk.starts() { desk.complete(span) }
    }
    #expect(desk.scheduler.verified.count < 400 && desk.scheduler.attempts.isEmpty)
    let gone = FetchFailure(.unreachable, "gone")
    for _ in 0..<100 where desk.scheduler.verdict == .running {
      for span in desk.starts() { desk.scheduler.ended(span.id, gone, now: desk.now) }
      desk.now = max(desk.now + 0.001, desk.scheduler.wakeAt ?? 0)
    }
    #expect(desk.failed(gone))
  }

  // MARK: Single cases

  @Test("a block that failed goes to another source first")
  func otherFirst() throws {
    var desk = try SchedulerDesk(
      blocks: 40, connections: 2, sources: [seed(0), seed(1)])
    let spans = desk.starts()
    try #require(spans.map(\.source).sorted() == [0, 1])
    let bad = try #require(spans.first { $0.source == 0 })
    let block = bad.blocks.lowerBound
    desk.scheduler.received(block..<block + 1, span: bad.id, now: desk.now)
    _ = desk.reject(
      block, bad, FetchFailure(.blockMismatch, "block \(block)", block: block))
    for span in spans { desk.scheduler.ended(span.id, nil, now: desk.now) }
    desk.now += 1
    let next = desk.starts()
    #expect(next.contains { $0.source == 1 && $0.blocks == block..<block + 1 })
    #expect(!next.contains { $0.source == 0 && $0.blocks.contains(block) })
  }

  @Test("one that asks for less gets half as much, and more again when it goes well")
  func halved() throws {
    var desk = try SchedulerDesk(blocks: 4_000, connections: 8, giveUpAfter: 1e6)
    var bytes: Int64 = 0
    // Until all eight are used.
    for _ in 0..<200 where desk.scheduler.activeSpans < 8 {
      let spans = desk.starts()
      desk.now += 0.3
      for span in spans.dropLast() {
        bytes += Int64(span.blocks.count) << 20
        desk.complete(span)
      }
      desk.scheduler.arrived(bytes: bytes, now: desk.now)
    }
    var busy = FetchFailure(.httpStatus, "too many", httpStatus: 429)
    busy.exchange.retryAfter = 7
    let ids = desk.scheduler.activeSpanIDs
    try #require(ids.count == 8)
    for id in ids { desk.scheduler.ended(id, busy, now: desk.now) }
    #expect(desk.starts() == [])
    #expect(desk.records == ["0 failed(1, atLeast: 7.0)"])
    desk.now += 8
    // On probation it gets one, then no more than half.
    var most = 0
    for _ in 0..<6 {
      let spans = desk.starts()
      most = max(most, desk.scheduler.activeSpans)
      desk.now += 0.1
      if let span = spans.first { desk.complete(span) }
    }
    #expect(most <= 4)
  }

  @Test("streams that were not processed cost no retry, and not for ever")
  func unprocessed() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 1)
    var failure = FetchFailure(.truncated, "refused stream")
    failure.exchange.wasUnprocessed = true
    var count = 0
    while desk.scheduler.verdict == .running, desk.records.isEmpty, count < 100 {
      for span in desk.starts() {
        count += 1
        desk.scheduler.ended(span.id, failure, now: desk.now)
      }
    }
    #expect((15...30).contains(count))
  }

  @Test(
    "HTTP/2 that breaks twice is given up for that source, and one that speaks nothing else is used"
  )
  func speech() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 1)
    var needs = FetchFailure(.tls, "no application protocol")
    needs.exchange.needsHTTP2 = true
    let first = try #require(desk.starts().first)
    #expect(!first.usesHTTP2)
    desk.scheduler.ended(first.id, needs, now: desk.now)
    let second = try #require(desk.starts().first)
    #expect(second.usesHTTP2 && desk.records.isEmpty)
    // From then on the same failure counts.
    desk.scheduler.ended(second.id, needs, now: desk.now)
    _ = desk.look()
    #expect(desk.records == ["0 failed(1, atLeast: 0.0)"])
  }

  @Test("a source that is taken out is left at once, and one that is added is used")
  func changed() throws {
    var desk = try SchedulerDesk(blocks: 400, connections: 4, sources: [seed(0), seed(1)])
    let spans = desk.starts()
    let removed = spans.filter { $0.source == 1 }.map(\.id)
    try #require(!removed.isEmpty)
    desk.scheduler.remove(1)
    #expect(desk.look() == removed)
    for id in removed {
      desk.scheduler.ended(id, FetchFailure(.interrupted, "cancelled"), now: desk.now)
    }
    let added = desk.scheduler.add(seed(2), now: desk.now)
    #expect(added == 2)
    for _ in 0..<40 {
      desk.now += 0.5
      for id in desk.look() {
        desk.scheduler.ended(id, FetchFailure(.interrupted, "cancelled"), now: desk.now)
      }
      for span in desk.starts() {
        #expect(span.source != 1)
        desk.complete(span)
      }
    }
    #expect(desk.scheduler.verdict == .done)
    #expect(desk.scheduler.reports[2].bytes > 0)
  }
}
