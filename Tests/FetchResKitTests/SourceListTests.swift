import Failure
import Storage
import TestSupport
import Testing
import Transport

@testable import FetchResKit

/// What is kept of a source, and when it is asked again.
@Suite struct SourceListTests {
  private let records = RetryRecords("/state/sources", MemoryFileSystem())
  private let name = SourceList.recordName(shown: "https://a.example/")

  private func list() throws -> SourceList {
    SourceList(
      try SiteURL("https://a.example/manifest"), records: records, asksAtOnce: false)
  }

  @Test("that a small file was not processed costs nothing, twenty times in a row")
  func unprocessed() throws {
    var failure = FetchFailure(.truncated, "the stream was refused")
    failure.exchange.wasUnprocessed = true
    let list = try list()
    func refuse(_ count: Int) {
      for _ in 0..<count { list.count(failure, 0, epoch: list.epoch(of: 0)) }
    }
    refuse(20)
    #expect(records.ladder(name) == nil && list.wait(for: [0]) == 0)
    refuse(3)
    #expect(records.ladder(name)?.failures == 3 && list.wait(for: [0]) > 4)
    // Whatever verifies gives it all of them again.
    list.succeeded([0])
    refuse(20)
    #expect(records.ladder(name) == nil)
  }
}
