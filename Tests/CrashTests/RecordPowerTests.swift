import Failure
import SignedNote
import Storage
import TestSupport
import Testing

@testable import FetchResKit

/// Ends the writers of small records at every operation: what is read is the old record, the new one,
/// or none that could do harm.
@Suite struct RecordPowerTests {
  private func key(_ name: String) throws -> NoteKey {
    SigningKey.generate(try #require(Origin(name))).key
  }

  @Test func `the keys that a user trusts are those of before or of after`() throws {
    let (one, two) = (try key("example.com/a"), try key("example.com/b"))
    let start = MemoryFileSystem()
    _ = try TrustStore(below: "/state", start).update { trust throws(FetchFailure) in
      try trust.add(one, name: nil)
    }
    var search = PowerCutSearch(seeds: 8)
    try search.run(from: start) { fileSystem in
      _ = try TrustStore(below: "/state", fileSystem).update { trust throws(FetchFailure) in
        try trust.add(two, name: "b")
      }
    } examine: { fileSystem, end in
      let keys = try TrustStore(below: "/state", fileSystem).load().keys.map(\.key)
      #expect(keys == [one, two] || !end.isComplete && keys == [one], "\(end)")
    }
    print("trust: \(search.points) crash points, \(search.states) states")
    #expect(search.points > 4)
  }

  @Test func `a record of waits is that of before or of after, or means a bounded wait`() throws {
    let start = MemoryFileSystem()
    let before = LadderRecord(failures: 3, now: 100, boot: nil)
    let after = LadderRecord(failures: 4, now: 200, boot: nil)
    try RetryRecords("/state/sources", start).save(before, "a")
    var search = PowerCutSearch(seeds: 8)
    try search.run(from: start) { fileSystem in
      let records = RetryRecords("/state/sources", fileSystem)
      try records.save(after, "a")
      try records.save(after, "b")
      try records.save(HoldRecord(now: 200, boot: nil), "a")
      try records.removeLadder("b")
    } examine: { fileSystem, end in
      let records = RetryRecords("/state/sources", fileSystem)
      for name in ["a", "b"] {
        let wait = records.ladder(name)?.wait(now: 200, boot: nil) ?? 0
        #expect((0...RetryLadder.ceiling).contains(wait), "\(end)")
        #expect(
          (0...HoldRecord.duration).contains(records.hold(name)?.wait(now: 0, boot: nil) ?? 0))
      }
      if end.isComplete, end.kind != .kill {
        #expect(records.ladder("a") == after && records.ladder("b") == nil, "\(end)")
      }
      // It can be written over.
      try records.save(before, "a")
      #expect(records.ladder("a") == before)
    }
    print("waits: \(search.points) crash points, \(search.states) states")
    #expect(search.points > 8)
  }
}
