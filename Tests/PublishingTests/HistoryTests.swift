import Failure
import Publishing
import SignedNote
import Storage
import TestSupport
import Testing

/// One history per key: nothing is signed that is no extension of what the key signed and of what the
/// site holds.
@Suite struct HistoryTests {
  /// A machine with as many releases, the site below and the key beside it.
  private func workshop(releases: Int) throws -> Workshop {
    var workshop = try Workshop()
    try workshop.publish(releases, from: 1)
    return workshop
  }

  /// Puts the site of another machine in the place of this one's.
  private func replaceSite(
    of workshop: Workshop, by files: [String: [UInt8]]
  ) throws {
    try workshop.remove(Workshop.site)
    for (path, bytes) in files { try workshop.put(path, bytes) }
  }

  private func refusal(_ workshop: Workshop) throws -> FetchFailure {
    let before = try workshop.files()
    let refusal = failure { () throws(FetchFailure) in
      try workshop.publish("refused", "four")
    }
    var after = try workshop.files()
    after["/site/.publish/lock"] = before["/site/.publish/lock"]
    #expect(after == before)
    return try #require(refusal)
  }

  @Test func `a restored back-up is a rollback`() throws {
    var workshop = try workshop(releases: 2)
    let backup = try workshop.files(below: Workshop.site)
    try workshop.publish(1, from: 3)
    try replaceSite(of: workshop, by: backup)
    let refusal = try refusal(workshop)
    #expect(refusal.category == .rollback)
    #expect(refusal.exitCode == 5)
    #expect(refusal.message.contains("back-up"))
    #expect(refusal.hint?.contains("--recover") == true)
  }

  @Test func `a lost site is a rollback, in other words`() throws {
    let workshop = try workshop(releases: 2)
    try workshop.remove(Workshop.site)
    let refusal = failure { () throws(FetchFailure) in try workshop.publish("v3", "four") }
    #expect(refusal?.category == .rollback)
    #expect(refusal?.message.contains("has none") == true)
    #expect(refusal?.hint?.contains("--recover") == true)
    #expect(try ServedSite(workshop).files == [:])
  }

  @Test func `another history of the same length is a fork`() throws {
    var (here, there) = try twins(releases: 1)
    try here.publish(1, from: 2)
    there.seconds += 1
    try there.publish(1, from: 2)
    try replaceSite(of: here, by: there.files(below: Workshop.site))
    let refusal = try refusal(here)
    #expect(refusal.category == .fork)
    #expect(refusal.exitCode == 5)
  }

  @Test(arguments: 1...4)
  func `a longer history that is no extension is a fork`(_ more: Int) throws {
    var (here, there) = try twins(releases: 2)
    try here.publish(1, from: 3)
    there.seconds += 1
    try there.publish(1 + more, from: 3)
    try replaceSite(of: here, by: there.files(below: Workshop.site))
    #expect(try refusal(here).category == .fork)
  }

  @Test(arguments: 1...5)
  func `a longer history of a second machine is accepted`(_ more: Int) throws {
    var (here, there) = try twins(releases: 3)
    try there.publish(more, from: 4)
    try replaceSite(of: here, by: there.files(below: Workshop.site))
    here.seconds = there.seconds + 10
    let release = try here.publish("mine", "four").manifest.release
    #expect(release == Int64(3 + more))
    #expect(try ServedSite(here).view().entries.count == 4 + more)
    #expect(here.bytes("/keys/first.head") == here.bytes("/site/checkpoint"))
    // The second machine is behind now, and told so.
    #expect(here.bytes("/site/checkpoint") != there.bytes("/site/checkpoint"))
  }

  @Test func `a longer history is read over many bundles`() throws {
    var (here, there) = try twins(releases: 2)
    try there.publish(260, from: 3)
    try replaceSite(of: here, by: there.files(below: Workshop.site))
    here.seconds = there.seconds + 10
    #expect(try here.publish("mine", "four").manifest.release == 262)
  }

  @Test func `without a head the site's checkpoint becomes it, and one line says so`() throws {
    var workshop = try workshop(releases: 1)
    try workshop.remove("/keys/first.head")
    workshop.seconds += 10
    var lines: [String] = []
    try workshop.publish("v2", "two", report: { lines.append($0) })
    #expect(lines.count == 1)
    #expect(lines.first?.contains("protects from now on") == true)
    #expect(workshop.bytes("/keys/first.head") == workshop.bytes("/site/checkpoint"))
    lines = []
    workshop.seconds += 10
    try workshop.publish("v3", "four", report: { lines.append($0) })
    #expect(lines.isEmpty)
  }

  /// The same machine without the record of its key.
  private func withoutHead(_ workshop: Workshop) throws -> Workshop {
    let copy = workshop.on(workshop.fileSystem.copy())
    try copy.remove("/keys/first.head")
    return copy
  }

  @Test func `the head is durable before it is said, whatever comes of the run`() throws {
    var workshop = try workshop(releases: 1)
    let backup = try workshop.files(below: Workshop.site)
    try workshop.publish(1, from: 2)
    workshop.seconds += 10
    // What is there, other content under its name, and a new version.
    for (version, file) in [("v2", "one"), ("v2", "four"), ("v3", "four")] {
      let start = try withoutHead(workshop)
      let served = start.bytes("/site/checkpoint")
      let ended = start.on(start.fileSystem.copy())
      _ = try? ended.publish(version, file, report: { _ in ended.fileSystem.cutPower() })
      let after = ended.on(ended.fileSystem.crash(survivors: .nothingUnsynced))
      #expect(served != nil && after.bytes("/keys/first.head") == served)

      let running = start.on(start.fileSystem.copy())
      var lines: [String] = []
      _ = try? running.publish(version, file, report: { lines.append($0) })
      #expect(lines.count == 1 && lines.first?.contains("protects from now on") == true)
      _ = try? running.publish(version, file, report: { lines.append($0) })
      #expect(lines.count == 1)
      try replaceSite(of: running, by: backup)
      #expect(try refusal(running).category == .rollback)
    }
  }

  @Test func `a site that is refused becomes no head, and no line says so`() throws {
    let workshop = try withoutHead(try workshop(releases: 2))
    try workshop.remove("/site/tile/0/000.p/2")
    var lines: [String] = []
    #expect(
      category { () throws(FetchFailure) in
        try workshop.publish("v3", "four", report: { lines.append($0) })
      } == .tileInvalid)
    #expect(lines.isEmpty && workshop.bytes("/keys/first.head") == nil)
  }

  @Test func `without a head no log is taken over that another key signed`() throws {
    let start = try workshop(releases: 2)
    let (first, second) = (try start.key("first"), try start.key("second"))
    // Whoever can write to the site begins another log, under a key that announces this one.
    var other = start.on(start.fileSystem.copy())
    try other.remove(Workshop.site)
    other.keys = ["/keys/second"]
    try other.publish("v1") { $0.nextKey = first }
    var workshop = try withoutHead(start)
    try replaceSite(of: workshop, by: other.files(below: Workshop.site))
    workshop.seconds += 10
    for keys in [["first"], ["first", "second"], ["second", "first"]] {
      workshop.keys = keys.map { "/keys/\($0)" }
      let refusal = try refusal(workshop)
      #expect(refusal.category == .unknownKey && refusal.exitCode == 5)
      #expect(refusal.hint?.contains("/keys/first.head") == true)
      #expect(
        category { () throws(FetchFailure) in try workshop.refresh() } == .unknownKey)
    }
    #expect(workshop.bytes("/keys/first.head") == nil)
    // Who knows that it has signed nothing says so.
    workshop.keys = ["/keys/first"]
    var lines: [String] = []
    try workshop.publish(
      "v2", "two", change: { $0.forcesUnannouncedKey = true }, report: { lines.append($0) })
    #expect(lines.count == 1)
    #expect(lines.first?.contains("release 0 by \(second)") == true)
  }

  @Test func `a first publish says nothing of heads`() throws {
    var lines: [String] = []
    try Workshop().publish("v1", report: { lines.append($0) })
    #expect(lines.isEmpty)
  }

  @Test func `a head that is damaged or of another key is refused`() throws {
    let workshop = try workshop(releases: 1)
    let head = try #require(workshop.bytes("/keys/first.head"))
    var other = try Workshop()
    try other.publish(1, from: 1)
    let foreign = try #require(other.bytes("/keys/first.head"))
    for bytes in [[], Array(head.dropLast(2)), foreign, [UInt8](repeating: 0, count: 100)] {
      try workshop.put("/keys/first.head", bytes)
      #expect([4, 5].contains(try refusal(workshop).exitCode))
    }
    try workshop.put("/keys/first.head", head)
    try workshop.publish("v2", "two")
  }

  // MARK: The site itself

  @Test func `a site whose checkpoint is gone starts no second log`() throws {
    let workshop = try workshop(releases: 2)
    try workshop.remove("/site/checkpoint")
    #expect(try refusal(workshop).category == .rollback)
    // Nor where the key has no record.
    try workshop.remove("/keys/first.head")
    #expect(try refusal(workshop).exitCode == 5)
  }

  @Test func `a site whose manifest is gone or old is not built upon`() throws {
    var workshop = try workshop(releases: 1)
    let old = try #require(workshop.bytes("/site/manifest"))
    try workshop.publish(1, from: 2)
    let new = try #require(workshop.bytes("/site/manifest"))
    try workshop.remove("/site/manifest")
    #expect(try refusal(workshop).hint?.contains("--recover") == true)
    try workshop.put("/site/manifest", old)
    let refusal = try refusal(workshop)
    #expect(refusal.category == .notLogged)
    #expect(refusal.hint?.contains("--recover") == true)
    try workshop.put("/site/manifest", new)
    try workshop.publish("v3", "four")
  }

  @Test func `a checkpoint by another key is refused`() throws {
    let workshop = try workshop(releases: 1)
    var other = try Workshop()
    try other.publish(1, from: 1)
    try workshop.put("/site/checkpoint", try #require(other.bytes("/site/checkpoint")))
    #expect(try refusal(workshop).exitCode == 5)
  }

  @Test(arguments: ["tile/0/000.p/3", "tile/entries/000.p/3"])
  func `a log with a missing or wrong file is not built upon`(_ path: String) throws {
    let workshop = try workshop(releases: 3)
    let good = try #require(workshop.bytes("/site/\(path)"))
    for position in [0, 1, 2, good.count / 2, good.count - 1] {
      var bad = good
      bad[position] ^= 1
      try workshop.put("/site/\(path)", bad)
      // The last entry has to be the manifest too.
      #expect([.tileInvalid, .notLogged].contains(try refusal(workshop).category))
    }
    try workshop.put("/site/\(path)", Array(good.dropLast()))
    #expect(try refusal(workshop).category == .tileInvalid)
    try workshop.remove("/site/\(path)")
    #expect(try refusal(workshop).category == .tileInvalid)
    try workshop.put("/site/\(path)", good)
    try workshop.publish("v4", "four")
  }

  private func twins(releases: Int) throws -> (Workshop, Workshop) {
    let workshop = try workshop(releases: releases)
    return (workshop.on(workshop.fileSystem.copy()), workshop.on(workshop.fileSystem.copy()))
  }
}

extension Workshop {
  /// Publishes as many releases, `v<first>` and on, of a tiny file.
  mutating func publish(_ count: Int, from first: Int) throws {
    for number in first..<first + count {
      seconds += 10
      try publish("v\(number)", "one")
    }
  }
}
