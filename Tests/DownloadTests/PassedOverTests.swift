import Download
import Testing

/// Time in which the process did not run.
@Suite struct PassedOverTests {
  @Test("the patience does not run while the process is stopped, and goes on afterwards")
  func patience() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 2, giveUpAfter: 60)
    let spans = desk.starts()
    #expect(!spans.isEmpty)
    desk.now += 1_050
    desk.scheduler.passedOver(1_000, now: desk.now)
    #expect(desk.starts() == [])
    #expect(desk.scheduler.verdict == .running)
    #expect(desk.scheduler.wakeAt == desk.now + 10)
    desk.now += 10
    #expect(desk.look() == spans.map(\.id))
    guard case .failed(let failure) = desk.scheduler.verdict else {
      Issue.record("still running")
      return
    }
    #expect(failure.category == .stalled)
  }

  @Test("what happened since is not moved into the future")
  func bounded() throws {
    var desk = try SchedulerDesk(blocks: 100, connections: 1, giveUpAfter: 60)
    let span = try #require(desk.starts().first)
    desk.now += 1_000
    desk.deliver(span.blocks.lowerBound..<span.blocks.lowerBound + 1, of: span)
    desk.scheduler.passedOver(1_000, now: desk.now)
    _ = desk.starts()
    #expect(desk.scheduler.wakeAt == desk.now + 60)
  }

  @Test("a source that was asked before a stop is not silent for it")
  func probes() throws {
    let names = ["https://a.example/", "https://b.example/"]
    var desk = try SchedulerDesk(
      blocks: 1_000, connections: 2, sources: names.map { SourceSeed(name: $0) })
    let spans = desk.starts()
    #expect(Set(spans.map(\.source)) == [0, 1])
    let first = try #require(spans.first { $0.source == 0 })
    desk.deliver(first.blocks.lowerBound..<first.blocks.lowerBound + 1, of: first)
    desk.now += 1_000
    desk.scheduler.passedOver(1_000, now: desk.now)
    #expect(desk.look() == [])
    desk.now += 3
    #expect(desk.look() == spans.filter { $0.source == 1 }.map(\.id))
  }
}
