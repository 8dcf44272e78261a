import Storage
import System
import TestSupport
import Testing

/// Waits that outlive processes and boots, and that no clock and no file can bend.
@Suite struct RetryLadderTests {
  private static let boot = BootIdentity((1...16).map { UInt8($0) })
  private static let nextBoot = BootIdentity((2...17).map { UInt8($0) })
  private static let waits: [Double] = [
    0, 0, 0, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600,
    604_800, 604_800,
  ]

  @Test("the waits are the fixed ladder and end at seven days")
  func ladder() {
    for (failures, wait) in Self.waits.enumerated() {
      #expect(RetryLadder.wait(failures: UInt32(failures)) == wait, "\(failures)")
    }
    #expect(RetryLadder.wait(failures: .max) == 604_800)
  }

  @Test("a record is 29 bytes: version, failures, deadline, boot")
  func layout() throws {
    let record = LadderRecord(failures: 0x0102, now: 1, boot: Self.boot)
    // 1 + 604800 = 604801 = 0x4122750200000000.
    #expect(
      record.bytes == [2, 0, 0, 1, 2, 0x41, 0x22, 0x75, 2, 0, 0, 0, 0] + (1...16).map { UInt8($0) })
    #expect(LadderRecord(record.bytes) == record)
    let hold = HoldRecord(now: 0, boot: nil)
    #expect(
      hold.bytes == [1, 0x40, 0xf5, 0x18, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16))
    #expect(HoldRecord(hold.bytes) == hold)
  }

  @Test("of the older form of 28 bytes the count alone is kept")
  func older() throws {
    let bytes = [0, 0, 0, 5] + [UInt8](repeating: 0xab, count: 24)
    let record = try #require(LadderRecord(bytes))
    #expect(record.failures == 5)
    for now in [0, 1e6, 1e18] { #expect(record.wait(now: now, boot: Self.boot) == 60) }
    #expect(LadderRecord(Array(record.bytes)) == record)
  }

  @Test("any other length or version is no record", arguments: 0...64)
  func foreign(_ length: Int) {
    for version in UInt8.min...UInt8.max {
      var bytes = [UInt8](repeating: 7, count: length)
      if length > 0 { bytes[0] = version }
      #expect((LadderRecord(bytes) != nil) == (length == 28 || length == 29 && version == 2))
      #expect((HoldRecord(bytes) != nil) == (length == 25 && version == 1))
    }
  }

  // covers: F17
  @Test("in its own boot what is left is waited for, and never more than the wait asked for")
  func sameBoot() {
    for failures in UInt32(0)...20 {
      let record = LadderRecord(failures: failures, now: 500, boot: Self.boot)
      let wait = RetryLadder.wait(failures: failures)
      for elapsed in [0, 1, wait / 2, wait, wait + 1, 1e9] {
        let left = record.wait(now: 500 + elapsed, boot: Self.boot)
        #expect(abs(left - max(0, wait - elapsed)) < 1e-6)
      }
    }
  }

  @Test("in another boot, or an unknown one, the wait of the rung begins again, once")
  func otherBoot() {
    for failures in UInt32(0)...20 {
      let wait = RetryLadder.wait(failures: failures)
      let record = LadderRecord(failures: failures, now: 1e6, boot: Self.boot)
      for (boot, now) in [(Self.nextBoot, 3.0), (nil, 3.0), (Self.nextBoot, 1e12)] {
        #expect(record.wait(now: now, boot: boot) == wait)
      }
      let again = LadderRecord(failures: failures, now: 3, boot: Self.nextBoot)
      #expect(again.wait(now: 3 + wait, boot: Self.nextBoot) == 0)
      let unknown = LadderRecord(failures: failures, now: 3, boot: nil)
      #expect(unknown.wait(now: 1e9, boot: nil) == wait)
    }
  }

  @Test("for a source it is at most five minutes that begin again, and only once")
  func sourceInOtherBoot() {
    let boots = [(Self.boot, Self.nextBoot), (Self.boot, nil), (nil, Self.boot), (nil, nil)]
    for (failures, (old, new)) in (UInt32(0)...20).flatMap({ count in boots.map { (count, $0) } }) {
      let again = min(RetryLadder.wait(failures: failures), 300)
      let record = LadderRecord(failures: failures, now: 1e6, boot: old)
      #expect(record.sourceWait(now: 3, boot: new) == again)
      // As often as it is looked at, and written again, in a boot without a name too.
      var kept = record.begunAgain(now: 3, boot: new)
      for part in [0, 0.25, 0.5, 1] {
        let now = 3 + again * part
        #expect(abs(kept.sourceWait(now: now, boot: new) - again * (1 - part)) < 1e-6)
        if kept.deadline.left(now: now, boot: new) == nil {
          kept = kept.begunAgain(now: now, boot: new)
        }
      }
      #expect(kept.failures == failures)
    }
    let record = LadderRecord(failures: 12, now: 500, boot: Self.boot)
    #expect(record.sourceWait(now: 600, boot: Self.boot) == 86_400 - 100)
  }

  @Test("where no boot has a name, a wait that has passed on the clock has passed")
  func withoutNames() {
    let record = LadderRecord(failures: 7, now: 500, boot: nil)
    for (now, left) in [(501.0, 300.0), (1_200, 200), (1_400, 0), (1e9, 0)] {
      #expect(record.sourceWait(now: now, boot: nil) == left)
    }
  }

  @Test("a longer wait that was asked for counts up to the ceiling, and nonsense does not")
  func asked() {
    func wait(_ asked: Double) -> Double {
      LadderRecord(failures: 4, now: 0, boot: Self.boot, atLeast: asked).wait(
        now: 0, boot: Self.boot)
    }
    #expect(wait(3) == 15)
    #expect(wait(100) == 100)
    #expect(wait(1e12) == 604_800)
    for nonsense in [-1, -Double.infinity, .infinity, .nan] { #expect(wait(nonsense) == 15) }
  }

  @Test("whatever bytes a record has, its wait is within the bounds")
  func anyBytes() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<20_000 {
      var bytes = (0..<29).map { _ in UInt8.random(in: 0...255, using: &random) }
      if Bool.random(using: &random) { bytes.replaceSubrange(13..., with: (1...16)) }
      for version in [UInt8(1), 2] {
        bytes[0] = version
        let waits = [
          LadderRecord(bytes)?.wait(now: 100, boot: Self.boot),
          HoldRecord(Array(bytes.prefix(25)))?.wait(now: 100, boot: Self.boot),
        ]
        for case let wait? in waits { #expect(wait >= 0 && wait <= 604_800) }
      }
    }
  }

  @Test("a hold whose deadline is no number is a whole day, and one of another boot an hour, once")
  func hold() throws {
    let boot = (1...16).map { UInt8($0) }
    for pattern in [Double.nan, .infinity, -.infinity].map(\.bitPattern) {
      let bytes = [1] + (0..<8).map { UInt8(truncatingIfNeeded: pattern >> (56 - 8 * $0)) } + boot
      let record = try #require(HoldRecord(bytes))
      #expect(record.wait(now: 1e9, boot: Self.boot) == 86_400)
    }
    let record = HoldRecord(now: 10, boot: Self.boot)
    #expect(record.wait(now: 86_000, boot: Self.boot) == 410)
    #expect(record.wait(now: 90_000, boot: Self.boot) == 0)
    for other in [Self.nextBoot, nil] {
      #expect(record.wait(now: 90_000, boot: other) == 3_600)
      let again = record.begunAgain(now: 7, boot: other)
      #expect(again.wait(now: 1_007, boot: other) == 2_600)
      #expect(again.begunAgain(now: 1_007, boot: other).wait(now: 3_607, boot: other) == 0)
    }
  }

  @Test("boots that have no name are the same if they began within ten seconds")
  func instants() throws {
    let one = BootIdentity(instant: 1_000_000)
    #expect(one.isSame(as: BootIdentity(instant: 1_000_009.5)))
    #expect(!one.isSame(as: BootIdentity(instant: 1_000_010.5)))
    #expect(!one.isSame(as: try #require(Self.boot)))
    #expect(BootIdentity([UInt8](repeating: 0, count: 16)) == nil)
    #expect(BootIdentity.current() != nil)
    #expect(BootIdentity.current() == BootIdentity.current())
  }

  // MARK: Files

  @Test("a record is kept, replaced and removed, and reading writes nothing")
  func files() throws {
    let disk = MemoryFileSystem()
    let records = RetryRecords("/state/sources", disk)
    #expect(records.ladder("a") == nil)
    try records.removeLadder("a")
    #expect(disk.operationCount == 0)
    for failures in [UInt32(3), 4, 200] {
      let record = LadderRecord(failures: failures, now: 5, boot: Self.boot)
      try records.save(record, "a")
      #expect(records.ladder("a") == record)
    }
    #expect(records.ladder("b") == nil && records.hold("a") == nil)
    let count = disk.operationCount
    _ = records.ladder("a")
    #expect(disk.operationCount == count)
    try records.removeLadder("a")
    #expect(records.ladder("a") == nil)
  }

  @Test("what stands there and is no record is no record, and is replaced whole")
  func foreignFiles() throws {
    let disk = MemoryFileSystem()
    let records = RetryRecords("/s", disk)
    try disk.makeDirectories("/s", permissions: 0o700)
    let directory = try disk.openDirectory("/s")
    for count in [0, 1, 27, 30, 64, 65, 10_000] {
      try directory.replaceFile("a.ladder", [UInt8](repeating: 2, count: count))
      #expect(records.ladder("a") == nil, "\(count)")
      let record = LadderRecord(failures: 1, now: 0, boot: nil)
      try records.save(record, "a")
      #expect(records.ladder("a") == record)
    }
    try directory.replaceFile("other", [])
    try directory.makeSymbolicLink("b.ladder", to: "other")
    #expect(records.ladder("b") == nil)
  }

  @Test("a power cut anywhere leaves a record of a bounded wait, or none")
  func powerCut() throws {
    let old = LadderRecord(failures: 3, now: 100, boot: Self.boot)
    let new = LadderRecord(failures: 4, now: 200, boot: Self.boot)
    for cut in 1...8 {
      let first = MemoryFileSystem()
      try RetryRecords("/s", first).save(old, "a")
      let disk = first.copy()
      disk.cutPower(before: disk.operationCount + cut)
      try? RetryRecords("/s", disk).save(new, "a")
      for outcome in disk.outcomes(seeds: 0..<20) {
        let survivor = disk.crash(survivors: outcome)
        guard let found = RetryRecords("/s", survivor).ladder("a") else { continue }
        #expect(found.wait(now: 200, boot: Self.boot) <= 604_800)
        try RetryRecords("/s", survivor).save(new, "a")
        #expect(RetryRecords("/s", survivor).ladder("a") == new)
      }
    }
  }

  @Test("two that write at the same time leave one of their records, whole")
  func twoWriters() throws {
    let disk = RealFileSystem()
    let path = "/tmp/fetchres-ladder-\(UInt64.random(in: .min ... .max))"
    defer { try? disk.openDirectory("/tmp").removeTree(Path.name(path)) }
    let written = (3...9).map { LadderRecord(failures: $0, now: 100, boot: Self.boot) }
    let threads = [written, written.reversed()].map { mine in
      WorkThread("writer") {
        for record in mine + mine + mine { try? RetryRecords(path, disk).save(record, "a") }
      }
    }
    for _ in 0..<500 {
      if let found = RetryRecords(path, disk).ladder("a") { #expect(written.contains(found)) }
    }
    for thread in threads { thread.join() }
    let last = try #require(RetryRecords(path, disk).ladder("a"))
    #expect(last.failures == 9 || last.failures == 3)
  }
}
