import Glibc
import System
import Testing

/// Two programs in one place.
@Suite struct LockTests {
  // covers: F27
  @Test("a second pull into the directory says who is there, exits 7, and disturbs nothing")
  func secondPull() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let first = try bench.beginPull(release, upTo: 48)
    let second = try bench.pull("--json")
    try second.expectFailure("locked", 7, "process \(first.identifier) on ", "hint: ")
    #expect(try bench.origin().count(of: "/manifest") == 1)
    try bench.fetchres.run("clean", bench.directory).expectRefusal(7, "another fetchres works on")
    first.send(SIGINT)
    try Outcome(of: first).expect(130)
    #expect(try bench.pulled.onlyPartial().journal.claims() == Set(0..<48))
  }

  @Test("commands that only look are not kept out")
  func looking() throws {
    let bench = try Workbench()
    let old = try bench.site.publish(randomBytes(1_000))
    try bench.pull().expect(0)
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize), version: "v2")
    let first = try bench.beginPull(release, upTo: 48)
    #expect(try bench.path() == "\(bench.directory)/v1/\(old.file)")
    try bench.fetchres.run("verify", bench.directory).expect(0)
    let status = try bench.status()
    #expect(status.complete.map(\.version) == ["v1"])
    #expect(status.unfinished.map(\.version) == ["v2"])
    first.send(SIGKILL)
    #expect(first.wait(within: Fetchres.patience) == .killed(SIGKILL))
  }

  // covers: F27
  @Test("the lock of a killed run holds nobody up")
  func stale() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let first = try bench.beginPull(release, upTo: 48)
    first.send(SIGKILL)
    #expect(first.wait(within: Fetchres.patience) == .killed(SIGKILL))
    #expect(Disk.exists("\(bench.directory)/.fetchres/lock"))
    try bench.origin().bend(nil)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  @Test("two pulls that begin at once in a new directory: one works, and the bytes are right")
  func race() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(3_000_000))
    let children = try (0..<4).map { _ in try bench.fetchres.start(bench.pulling()) }
    let outcomes = try children.map { try Outcome(of: $0) }
    #expect(outcomes.contains { $0.exitCode == 0 })
    for outcome in outcomes where outcome.exitCode != 0 {
      outcome.expectRefusal(7, "another fetchres works on")
    }
    try bench.expectComplete(release)
  }

  @Test("a second publish into the site exits 7")
  func secondPublish() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let before = try bench.site.manifest()
    let lock = try #require(
      Disk.names(in: "\(bench.site.path)/.publish").first { $0.contains("lock") })
    let holder = open("\(bench.site.path)/.publish/\(lock)", O_RDWR | O_CLOEXEC)
    #expect(holder >= 0 && flock(holder, LOCK_EX | LOCK_NB) == 0)
    defer { close(holder) }
    let input = try bench.scratch.write("other.bin", randomBytes(10))
    try bench.fetchres.run(bench.site.publishing(input, version: "v2"))
      .expectRefusal(7, "another fetchres")
    #expect(try bench.site.manifest() == before)
  }
}
