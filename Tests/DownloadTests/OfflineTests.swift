import Download
import Failure
import Testing

/// This machine reaches nothing: no source is to blame for that.
@Suite struct OfflineTests {
  private let sources = [
    SourceSeed(name: "https://a.example/"), SourceSeed(name: "https://b.example/"),
  ]

  private var noRoute: FetchFailure {
    var failure = FetchFailure(.unreachable, "no route")
    failure.exchange.isLocal = true
    return failure
  }

  @Test("while this machine reaches nothing, nothing climbs")
  func offline() throws {
    var desk = try SchedulerDesk(
      blocks: 100, connections: 4, giveUpAfter: 1_000, sources: sources)
    for _ in 0..<20 {
      for span in desk.starts() { desk.scheduler.ended(span.id, noRoute, now: desk.now) }
      _ = desk.look()
      desk.now += 6
    }
    #expect(desk.records.isEmpty)
    #expect(desk.scheduler.verdict == .running)
    desk.finish()
  }

  @Test("a source that is not asked any more does not say that this machine reaches something")
  func offlineBesideIdle() throws {
    var desk = try SchedulerDesk(
      blocks: 100, connections: 4, giveUpAfter: 1_000, sources: sources)
    for span in desk.starts() {
      if span.source == 0 {
        desk.complete(span)
      } else {
        desk.scheduler.ended(span.id, FetchFailure(.rangeIgnored, "whole"), now: desk.now)
      }
    }
    for _ in 0..<20 {
      desk.now += 6
      for span in desk.starts() {
        #expect(span.source == 0)
        desk.now += 1
        desk.scheduler.ended(span.id, noRoute, now: desk.now)
      }
      _ = desk.look()
    }
    #expect(desk.records.isEmpty && desk.scheduler.verdict == .running)
    // While another one answers, it is the source that is to blame.
    desk.now += 6
    let spans = desk.starts()
    try #require(!spans.isEmpty)
    desk.now += 1
    desk.scheduler.arrived(bytes: 1 << 40, now: desk.now)
    desk.now += 1
    for span in spans { desk.scheduler.ended(span.id, noRoute, now: desk.now) }
    _ = desk.look()
    #expect(desk.records == ["0 failed(1, atLeast: 0.0)"])
  }
}
