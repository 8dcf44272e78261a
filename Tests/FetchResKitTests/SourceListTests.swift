import Failure
import Storage
import System
import TestSupport
import Testing
import Transport

@testable import FetchResKit

/// What is kept of a source, and when it is asked again.
@Suite struct SourceListTests {
  private let records = RetryRecords("/state/sources", MemoryFileSystem())
  private let name = SourceList.recordName(shown: "https://a.example/")

  private func list(boot: BootIdentity? = .current()) throws -> SourceList {
    SourceList(
      try SiteURL("https://a.example/manifest"), records: records, asksAtOnce: false, boot: boot)
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

  @Test("waits of another boot begin again once, where boots have no name too")
  func otherBoot() throws {
    let old = BootIdentity([UInt8](repeating: 7, count: BootIdentity.byteCount))
    for boot in [BootIdentity.current(), nil] {
      try records.save(LadderRecord(failures: 12, now: 1e9, boot: old), name)
      try records.save(HoldRecord(now: 1e9, boot: old), name)
      let wait = try list(boot: boot).wait(for: [0])
      #expect(wait > 200 && wait <= 300)
      let (ladder, hold) = (records.ladder(name), records.hold(name))
      let later = Clocks.sinceBoot() + 3_600
      #expect(ladder?.failures == 12 && ladder?.sourceWait(now: later, boot: boot) == 0)
      #expect(hold?.wait(now: later, boot: boot) == 0)
      // The next run begins nothing anew.
      _ = try list(boot: boot)
      let ends = [ladder?.deadline, hold?.deadline].map { $0?.instant ?? 0 }
      let now = [records.ladder(name)?.deadline, records.hold(name)?.deadline]
      for (end, now) in zip(ends, now) { #expect(abs((now?.instant ?? 0) - end) < 1e-3) }
    }
  }
}
