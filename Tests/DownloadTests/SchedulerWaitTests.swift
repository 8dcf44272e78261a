import Download
import Failure
import MerkleTree
import Testing

/// When a source is asked again, and when no more.
@Suite struct SchedulerWaitTests {
  private let transient = FetchFailure(.unreachable, "no connection")
  private let tile = TileAddress(level: 0, index: 0)

  /// Ends everything that was started, all at the same moment.
  private func breakAll(_ desk: inout SchedulerDesk, _ spans: [Span]) {
    for span in spans { desk.scheduler.ended(span.id, transient, now: desk.now) }
  }

  /// The wait after each of a row of incidents.
  private func waits(_ desk: inout SchedulerDesk, _ count: Int) throws -> [Double] {
    try (0..<count).map { _ in
      let spans = desk.starts()
      try #require(!spans.isEmpty)
      breakAll(&desk, spans)
      let wait = max(0, try #require(desk.scheduler.wakeAt) - desk.now)
      desk.now += wait
      return wait
    }
  }

  @Test func `incidents in a row climb the ladder, once for all connections that broke with it`()
    throws
  {
    var desk = try SchedulerDesk(blocks: 100, connections: 8, giveUpAfter: 1e9)
    let waits = try waits(&desk, 9)
    for (wait, rung) in zip(waits, [0, 0, 5, 15, 60, 300, 900, 3_600, 10_800]) {
      #expect(wait >= Double(rung) && wait <= Double(rung) * 1.1, "\(waits)")
    }
  }

  @Test func `a failure that comes late belongs to the incident before it`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 8, giveUpAfter: 1e9)
    let first = desk.starts()
    try #require(first.count >= 2)
    breakAll(&desk, [first[0]])
    let second = desk.starts()
    desk.now += 3
    // What was asked before the incident broke with it, however long it took to say so.
    breakAll(&desk, Array(first.dropFirst()))
    #expect(desk.scheduler.mayAsk(now: desk.now))
    breakAll(&desk, second + desk.starts())
    #expect(desk.scheduler.mayAsk(now: desk.now))
  }

  @Test func `nothing is asked while the ladder waits`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 8, giveUpAfter: 1e9)
    for _ in 0..<3 { breakAll(&desk, desk.starts()) }
    #expect(!desk.scheduler.mayAsk(now: desk.now))
    #expect(desk.starts() == [])
    desk.now += 4.9
    #expect(desk.starts() == [])
    desk.now += 0.7
    #expect(desk.scheduler.mayAsk(now: desk.now))
    #expect(!desk.starts().isEmpty)
  }

  @Test func `a block that verifies puts the ladder back to its foot`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 1, giveUpAfter: 1e9)
    _ = try waits(&desk, 5)
    let span = try #require(desk.starts().first)
    desk.deliver(span.blocks.lowerBound..<span.blocks.lowerBound + 1, of: span)
    // A transfer that brought something and broke is no incident.
    breakAll(&desk, [span])
    #expect(desk.scheduler.mayAsk(now: desk.now))
    #expect(try waits(&desk, 3).map { Int($0) } == [0, 0, 5])
  }

  @Test func `tiles and blocks climb the same ladder`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 8, giveUpAfter: 1e9)
    for _ in 0..<2 {
      let spans = desk.starts()
      desk.scheduler.requested(tile, from: 0)
      breakAll(&desk, spans)
      // The same incident.
      desk.scheduler.tileFailed(tile, transient, now: desk.now)
      #expect(desk.scheduler.mayAsk(now: desk.now))
    }
    desk.scheduler.requested(tile, from: 0)
    desk.scheduler.tileFailed(tile, transient, now: desk.now)
    #expect(!desk.scheduler.mayAsk(now: desk.now))
  }

  @Test func `a tile that is wrong five times ends the run`() throws {
    var desk = try SchedulerDesk(blocks: 100)
    let wrong = FetchFailure(.tileInvalid, "wrong")
    for count in 1...5 {
      #expect(desk.scheduler.verdict == .running, "\(count)")
      desk.scheduler.requested(tile, from: 0)
      desk.scheduler.tileFailed(tile, wrong, now: desk.now)
      desk.now += 3
    }
    #expect(desk.failed(wrong))
    #expect(!desk.scheduler.mayAsk(now: desk.now))
  }

  // MARK: Giving up

  @Test func `a wait that would outlast the patience ends the run at once, and says so`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 2, giveUpAfter: 60)
    let start = desk.now
    for _ in 0..<20 where desk.scheduler.verdict == .running {
      let spans = desk.starts()
      breakAll(&desk, spans)
      if spans.isEmpty { desk.now = max(desk.now, desk.scheduler.wakeAt ?? desk.now) }
    }
    #expect(desk.failed(transient))
    #expect(desk.now - start < 60)
    guard case .failed(let failure) = desk.scheduler.verdict else { return }
    #expect(failure.hint?.contains("--give-up-after") == true)
    #expect(failure.exitCode == 3)
  }

  @Test func `silence for as long as the patience lasts ends the run and every transfer`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 2, giveUpAfter: 60)
    let spans = desk.starts()
    #expect(desk.scheduler.wakeAt == desk.now + 60)
    desk.now += 59.9
    _ = desk.starts()
    #expect(desk.scheduler.verdict == .running)
    desk.now += 0.1
    let actions = desk.scheduler.next(now: desk.now)
    #expect(
      Set(actions.map { "\($0)" }).isSuperset(of: spans.map { "\(Scheduler.Action.cancel($0.id))" })
    )
    #expect(actions.count == desk.scheduler.activeSpans)
    guard case .failed(let failure) = desk.scheduler.verdict else {
      Issue.record("still running")
      return
    }
    #expect(failure.category == .stalled)
    #expect(desk.scheduler.wakeAt == nil)
    // They are cancelled once.
    #expect(desk.scheduler.next(now: desk.now) == [])
  }

  @Test func `the last failure of the source is the reason that is given`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 2, giveUpAfter: 60)
    breakAll(&desk, desk.starts())
    _ = desk.starts()
    desk.now += 60
    _ = desk.scheduler.next(now: desk.now)
    #expect(desk.failed(transient))
  }

  @Test func `work on this disk takes its time, and waiting for nothing but tiles does not`() throws
  {
    var desk = try SchedulerDesk(blocks: 4, claimed: [0..<4], giveUpAfter: 60)
    for _ in 0..<50 {
      #expect(desk.starts() == [])
      desk.now += 50
    }
    #expect(desk.scheduler.verdict == .running && desk.scheduler.wakeAt == nil)
    _ = desk.starts()
    desk.scheduler.awaitsTiles = true
    desk.now += 59
    #expect(desk.starts() == [])
    #expect(desk.scheduler.verdict == .running)
    #expect(desk.scheduler.wakeAt == desk.now + 1)
    // One that comes renews the patience.
    desk.scheduler.received(tile, now: desk.now)
    desk.now += 59
    #expect(desk.starts() == [])
    #expect(desk.scheduler.verdict == .running)
    desk.now += 1
    #expect(desk.starts() == [])
    guard case .failed(let failure) = desk.scheduler.verdict else {
      Issue.record("still running")
      return
    }
    #expect(failure.exitCode == 3)
  }

  @Test func `tiles that nobody can be asked for while the patience lasts end the run at once`()
    throws
  {
    var desk = try SchedulerDesk(blocks: 4, claimed: [0..<4], giveUpAfter: 60)
    desk.scheduler.awaitsTiles = true
    for _ in 0..<20 where desk.scheduler.verdict == .running {
      desk.scheduler.requested(tile, from: 0)
      desk.scheduler.tileFailed(tile, transient, now: desk.now)
      _ = desk.look()
      if let wake = desk.scheduler.wakeAt { desk.now = max(desk.now, min(wake, desk.now + 16)) }
    }
    #expect(desk.failed(transient))
  }

  @Test func `every verified block renews the patience`() throws {
    var desk = try SchedulerDesk(blocks: 20, connections: 1, giveUpAfter: 60)
    while desk.scheduler.verdict == .running {
      let span = try #require(desk.starts().first)
      for block in span.blocks {
        desk.now += 59
        #expect(desk.starts() == [])
        desk.deliver(block..<block + 1, of: span)
      }
      desk.scheduler.ended(span.id, nil, now: desk.now)
    }
    #expect(desk.scheduler.verdict == .done)
  }

  // MARK: What is on this disk

  @Test func `what comes from elsewhere is not asked for, until it is wanted after all`() throws {
    var desk = try SchedulerDesk(blocks: 10, connections: 1)
    #expect(desk.scheduler.withhold(2..<10) == [2..<10])
    #expect(desk.scheduler.withhold(0..<4) == [0..<2])
    #expect(desk.starts() == [])
    desk.scheduler.want(3..<5)
    #expect(desk.scheduler.isMissing(3) && !desk.scheduler.isMissing(5))
    desk.scheduler.verified(0..<3, span: nil, now: desk.now)
    desk.scheduler.verified(5..<10, span: nil, now: desk.now)
    while let span = desk.starts().first {
      #expect((3..<5).contains(span.blocks.lowerBound))
      desk.complete(span)
    }
    #expect(desk.scheduler.verdict == .done)
  }

  @Test func `all but the first request can be held back`() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 8)
    desk.scheduler.holdsBack = true
    let first = desk.starts()
    #expect(first.count == 1)
    desk.complete(try #require(first.first))
    desk.now += 10
    #expect(desk.starts() == [])
    // Nobody is woken for what is held back, before the patience ends.
    #expect((desk.scheduler.wakeAt ?? 0) > desk.now)
    desk.scheduler.holdsBack = false
    desk.finish()
  }
}
