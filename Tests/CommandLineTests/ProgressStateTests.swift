import Download
import Testing

@testable import FetchResKit
@testable import fetchres_cli

extension FetchEvent {
  static func made(
    _ verified: Int64, of total: Int64, resumed: Int64 = 0, reused: Int64 = 0,
    rate: Double? = nil, sources: Int = 1, unhashed: Int64 = 0, wait: Double? = nil,
    map: BlockMap? = nil
  ) -> FetchEvent {
    var progress = FetchEvent.Progress(
      total: total, verified: verified, resumed: resumed, reused: reused, rate: rate,
      sources: sources)
    (progress.unhashed, progress.wait, progress.map) = (unhashed, wait, map)
    return .progress(progress)
  }
}

@Suite struct ProgressStateTests {
  private func state(_ events: [(Double, FetchEvent)]) -> ProgressState {
    var state = ProgressState()
    for (now, event) in events { state.take(event, now: now) }
    return state
  }

  @Test(
    "percent is whole, never above 100, and 100 only when nothing is missing",
    arguments: [
      (0, 1_000, 0), (9, 1_000, 0), (10, 1_000, 1), (999, 1_000, 99), (1_000, 1_000, 100),
      (1_001, 1_000, 100), (0, 0, 100), (.max - 1, .max, 99), (-5, 1_000, 0),
    ] as [(Int64, Int64, Int)])
  func percent(_ verified: Int64, _ total: Int64, _ percent: Int) {
    #expect(state([(0, .made(verified, of: total))]).percent == percent)
  }

  @Test func `what was on disk is not counted as speed`() {
    let state = state([
      (0, .made(0, of: 10_000)), (1, .made(5_000, of: 10_000, resumed: 4_000, reused: 900)),
    ])
    #expect(state.average.rate.map { Int($0.rounded()) } == 100)
    #expect(state.fetched == 100 && state.carriedOver == 4_900)
    #expect(state.secondsLeft.map { Int($0.rounded()) } == 50)
  }

  @Test func `what is not hashed yet does not have to be fetched`() {
    let state = state([
      (0, .made(0, of: 10_000)), (1, .made(100, of: 10_000, unhashed: 9_000)),
    ])
    #expect(state.secondsLeft.map { Int($0.rounded()) } == 9)
  }

  @Test func `without a rate nobody knows how long it takes`() {
    #expect(state([]).secondsLeft == nil)
    #expect(state([(0, .made(0, of: 10)), (1, .made(0, of: 10))]).secondsLeft == nil)
    // A clock that stands still is no reason for a rate without end.
    #expect(state([(1, .made(0, of: 10)), (1, .made(5, of: 10))]).secondsLeft == nil)
  }

  @Test func `blocks that sources sent are refused, blocks on disk are only fetched again`() {
    let failure = FetchFailureMade.blockMismatch
    let state = state([
      (0, .blockRejected(failure, wasOnDisk: false)), (0, .blockRejected(failure, wasOnDisk: true)),
      (0, .blockRejected(failure, wasOnDisk: false)),
    ])
    #expect(state.refused == 2)
  }

  @Test func `the phase follows what happens`() {
    #expect(state([]).phase == .starting)
    #expect(state([(1, .phase(.checkingLog))]).phase == .checkingLog)
    #expect(state([(1, .phase(.waiting(seconds: 5)))]).phase == .waiting(until: 6))
    #expect(state([(1, .phase(.startingTor(percent: 40)))]).phase == .startingTor(percent: 40))
    #expect(state([(1, .begin(version: "v", size: 1, claimed: 0))]).phase == .fetching)
    #expect(state([(1, .made(1, of: 9))]).phase == .fetching)
    #expect(state([(1, .made(1, of: 9, sources: 0, unhashed: 5))]).phase == .rehashing)
    #expect(state([(1, .made(1, of: 9, sources: 0, wait: 2))]).phase == .waiting(until: 3))
    #expect(state([(1, .made(1, of: 9, sources: 0, wait: .infinity))]).phase == .fetching)
    #expect(state([(1, .phase(.finishing))]).phase == .finishing)
  }

  @Test func `the title is the last part of the origin, and the version that is fetched`() {
    let manifest = FetchEvent.manifest(
      origin: "maps.example.com/eu/world", version: "2", release: 1, size: 1, blocks: 1)
    #expect(state([(0, manifest)]).title == "world 2")
    #expect(
      state([(0, manifest), (0, .begin(version: "1", size: 1, claimed: 0))]).title == "world 1")
  }
}

@Suite struct SmoothedRateTests {
  @Test func `a steady rate is that rate at once, and a change arrives bit by bit`() throws {
    var meter = SmoothedRate()
    for second in 0...60 { meter.tick(bytes: Int64(second) * 1_000, now: Double(second)) }
    #expect(abs(try #require(meter.rate) - 1_000) < 0.001)
    meter.tick(bytes: 70_000, now: 61)
    let rate = try #require(meter.rate)
    #expect(rate > 1_000 && rate < 2_500)
  }

  @Test func `a stall takes the rate down, and a count that falls is nothing new`() throws {
    var meter = SmoothedRate()
    meter.tick(bytes: 0, now: 0)
    meter.tick(bytes: 1_000, now: 1)
    for second in 2...30 { meter.tick(bytes: 1_000, now: Double(second)) }
    #expect(try #require(meter.rate) < 500)
    meter.tick(bytes: 0, now: 31)
    #expect(try #require(meter.rate) >= 0)
  }
}
