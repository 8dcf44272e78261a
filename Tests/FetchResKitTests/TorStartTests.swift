import Failure
import Testing

@testable import FetchResKit

/// What is made of what is heard of a tor daemon, and when.
@Suite struct TorStartTests {
  /// What comes of words at times; nil for a look at which nothing new was heard.
  private func states(
    giveUpAfter: Double = 600, _ words: [(Double, TorStart.Word?)]
  ) -> [TorStart.State] {
    var start = TorStart(now: 1_000, giveUpAfter: giveUpAfter)
    return words.map { start.hear($0.1, now: 1_000 + $0.0) }
  }

  @Test func `percent rise, and a hundred is ready`() {
    let states = states([
      (0, .percent(0)), (1, .percent(50)), (2, .percent(50)), (70, .percent(100)),
    ])
    #expect(
      states == [
        .starting(percent: 0), .starting(percent: 50), .starting(percent: 50), .ready,
      ])
  }

  @Test func `what comes through it makes it ready, whenever that is`() {
    #expect(states([(0, .isThrough)]) == [.ready])
    #expect(states([(0, .isThere), (80, .isThrough)]).last == .ready)
  }

  @Test(arguments: [.percent(95), .isThere] as [TorStart.Word])
  func `a start that takes 75 seconds has stalled, however far it came`(_ word: TorStart.Word) {
    let states = states([(0, word), (74.9, word), (75, word)])
    #expect(states.dropLast().allSatisfy { if case .starting = $0 { true } else { false } })
    #expect(states.last == .stalled(after: 75))
  }

  @Test func `it has stalled also where nothing more was heard`() {
    #expect(self.states([(0, .isThere), (75, nil)]).last == .stalled(after: 75))
  }

  @Test func `a daemon that begins again has all the time again`() {
    let fallen = states([(0, .percent(80)), (70, .percent(10)), (144, .percent(90)), (145, nil)])
    #expect(fallen.dropFirst(2) == [.starting(percent: 90), .stalled(after: 75)])
    let restarted = states([
      (0, .percent(80)), (60, .isGone), (70, .percent(80)), (140, .percent(80)),
      (145, .percent(85)),
    ])
    #expect(
      restarted.dropFirst() == [
        .starting(percent: nil), .starting(percent: 80), .starting(percent: 80),
        .stalled(after: 75),
      ])
  }

  @Test func `a daemon that is not there is waited for like anything else, and never stalls`() {
    #expect(
      states([(0, .isGone), (80, .isGone), (599, nil), (600, .isGone)]) == [
        .starting(percent: nil), .starting(percent: nil), .starting(percent: nil), .absent,
      ])
  }

  @Test func `whoever begins again and again has no more time than the run`() {
    var words: [(Double, TorStart.Word?)] = []
    for second in stride(from: 0.0, to: 600, by: 50) {
      words += [(second, .isThere), (second + 25, .isGone)]
    }
    #expect(states(words).allSatisfy { $0 == .starting(percent: nil) })
    #expect(states(words + [(600, .isThere)]).last == .stalled(after: 0))
    #expect(
      states(giveUpAfter: 5, [(0, .percent(3)), (5, .percent(3))]).last == .stalled(after: 5))
  }

  @Test func `a stall and an absence are the network's, and running again resumes`() throws {
    let stalled = try #require(TorStart.State.stalled(after: 75).failure(socks: "127.0.0.1:9050"))
    #expect(stalled.category == .torStalled && stalled.exitCode == 3)
    #expect(
      stalled.message == "tor did not get through in 75 s; this network may be blocking it")
    let absent = try #require(TorStart.State.absent.failure(socks: "127.0.0.1:9050"))
    #expect(absent.category == .proxyUnreachable && absent.exitCode == 3)
    #expect([stalled, absent].allSatisfy { $0.hint?.contains("run again to resume") == true })
    #expect(TorStart.State.ready.failure(socks: "") == nil)
    #expect(TorStart.State.starting(percent: 5).failure(socks: "") == nil)
  }
}
