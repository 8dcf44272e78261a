import Failure
import Publishing
import Storage
import System
import TestSupport
import Testing

/// Appending to a log costs the same, however long it is.
@Suite struct LongLogTests {
  /// What one refresh did.
  private struct Cost {
    var files: Int
    var written: Int64
    var operations: Int
  }

  private func refresh(afterReleases count: Int64) throws -> Cost {
    var workshop = try Workshop()
    let first = try workshop.publish("v1", "one").manifest
    let key = try KeyFile("/keys/first", workshop.fileSystem).key
    let log = LongLog(first, key: key, count: count)
    // The right edge alone, so that nothing else can be read.
    for (path, bytes) in log.files where !path.hasPrefix("tile/") || path.contains(".p/") {
      try workshop.put("/site/\(path)", bytes)
    }
    try workshop.put("/keys/first.head", try #require(log.files["checkpoint"]))
    workshop.seconds += 10
    let before = try workshop.files(below: Workshop.site)

    let written = Monitor<Int64>(0)
    let start = workshop.fileSystem.operationCount
    workshop.fileSystem.onOperation = { operation in
      guard operation.kind == .write, let range = operation.range else { return }
      written.look { $0 += Int64(range.count) }
    }
    #expect(try workshop.refresh().manifest.release == count)
    workshop.fileSystem.onOperation = nil
    let after = try workshop.files(below: Workshop.site)
    let changed = after.filter { !$0.key.contains("/.publish/") && before[$0.key] != $0.value }
    #expect(before.keys.allSatisfy { after[$0] != nil })
    return Cost(
      files: changed.count, written: written.look { $0 },
      operations: workshop.fileSystem.operationCount - start)
  }

  @Test func `a refresh behind 20,000 releases costs what one behind 1,000 does`() throws {
    try compare(20_000)
  }

  @Test(
    .enabled(
      if: ThisProcess.environment("FETCHRES_LONG_TESTS") != nil,
      "set FETCHRES_LONG_TESTS for a log of 100,000 releases"))
  func `a refresh behind 100,000 releases costs what one behind 1,000 does`() throws {
    try compare(100_000)
  }

  private func compare(_ count: Int64) throws {
    // The same width of the last bundle.
    let short = try refresh(afterReleases: 1_024 + count % 256)
    let long = try refresh(afterReleases: count)
    #expect(short.files <= 12 && long.files <= 12)
    #expect(long.files <= short.files + 1)
    #expect(long.operations <= short.operations + 20)
    // Numbers have more digits, and one more level may have a tile, staged and put into place.
    #expect(long.written <= short.written + 4 * 8_192)
    #expect(short.written > 0)
  }
}
