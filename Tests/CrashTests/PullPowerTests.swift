import Failure
import Storage
import TestSupport
import Testing

/// Ends whole pulls at every operation, by power cut and by kill. What is available is whole, no record
/// says more than is so, and a rerun completes it.
@Suite struct PullPowerTests {
  @Test(arguments: PullScene.Case.allCases)
  func `wherever it ends, what is there is right and a rerun completes it`(
    _ which: PullScene.Case
  ) throws {
    var search = PullSearch(try PullScene(which), seeds: 2)
    try search.run()
    for finding in search.findings.prefix(5) { Issue.record("\(finding)") }
    print(
      "\(which): \(search.points) crash points, \(search.states) states, \(search.reruns) of them different"
    )
    let isShort = [.complete, .outputCloned, .outputCopied, .cleaned].contains(which)
    #expect(search.points > (isShort ? 5 : 20))
  }
}
