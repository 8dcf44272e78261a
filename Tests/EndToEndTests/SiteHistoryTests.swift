import Failure
import Glibc
import Publishing
import System
import Testing

/// One history per key: what a publisher is refused, how it is told, and the way out.
@Suite struct SiteHistoryTests {
  /// Two releases, and a copy of the site from when there was one.
  private func withBackup() throws -> (Workbench, backup: String) {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(100_000))
    try Disk.copy(bench.site.path, to: bench.scratch("backup"))
    try bench.site.publish(randomBytes(200_000), version: "v2")
    return (bench, bench.scratch("backup"))
  }

  // covers: F36
  @Test("a restored back-up is refused, and recovery from a mirror is the way out")
  func restored() throws {
    let (bench, backup) = try withBackup()
    let mirror = try bench.mirror()
    let newest = try bench.site.manifest()
    try bench.restore(backup)
    try bench.publishing("v3").expectRefusal(5, "restored back-up", "--recover")
    try bench.refresh().expectRefusal(5, "restored back-up", "--recover")
    let recovered = try bench.mode("--recover", mirror.base, signs: true)
    recovered.expect(0)
    #expect(recovered.error.contains("is rebuilt up to release 1, version v2"))
    #expect(try bench.site.manifest() == newest)
    try bench.verifyLog().expect(0)
    try bench.publishing("v3").expect(0)
    #expect(try bench.site.field("release") == "2")
    try bench.pull().expect(0)
  }

  @Test("a lost site is refused in other words, and comes back without the data of old versions")
  func lost() throws {
    let (bench, _) = try withBackup()
    let mirror = try bench.mirror()
    try Disk.remove(bench.site.path)
    try bench.publishing("v3").expectRefusal(5, "the site is lost", "--recover")
    try bench.mode("--recover", mirror.base, signs: true).expect(0)
    #expect(mirror.count(of: "/releases/v1/thing.bin") == 0)
    let verified = try bench.verifyLog()
    verified.expect(0)
    #expect(verified.output.contains("v1: pruned"))
    try bench.pull().expect(0)
    let again = try bench.mode("--recover", mirror.base, signs: true)
    again.expect(0)
    try bench.publishing("v3").expect(0)
  }

  @Test("recovery takes nothing from a mirror that is behind")
  func behind() throws {
    let (bench, backup) = try withBackup()
    let mirror = try Origin(backup)
    try Disk.remove(bench.site.path)
    try bench.mode("--recover", mirror.base, signs: true)
      .expectRefusal(4, "1 of the 2 releases", "not behind")
    #expect(!Disk.exists("\(bench.site.path)/checkpoint"))
  }

  @Test(
    "recovery takes nothing that is not in the log",
    arguments: ["/tile/entries/000.p/2", "/tile/0/000.p/2", "/releases/v2/thing.bin"])
  func tampered(_ path: String) throws {
    let (bench, _) = try withBackup()
    let mirror = try bench.mirror()
    mirror.bend { request, response in
      if request.path == path { response.bytes[40] ^= 1 }
    }
    try Disk.remove(bench.site.path)
    try bench.mode("--recover", mirror.base, signs: true).expectRefusal(4)
    #expect(!Disk.exists("\(bench.site.path)/manifest"))
    mirror.bend(nil)
    try bench.mode("--recover", mirror.base, signs: true).expect(0)
    try bench.verifyLog().expect(0)
  }

  @Test("a site that is ahead of the mirror is not rolled back by a recovery")
  func ahead() throws {
    let (bench, backup) = try withBackup()
    let mirror = try Origin(backup)
    try Disk.remove("\(bench.site.keyFile).head")
    let before = try bench.site.manifest()
    try bench.mode("--recover", mirror.base, signs: true)
      .expectRefusal(4, "has 1 releases", "has 2 that the key signed", "not behind")
    #expect(try bench.site.manifest() == before)
    let live = try bench.mirror()
    let recovered = try bench.mode("--recover", live.base, signs: true)
    recovered.expect(0)
    #expect(recovered.error.contains("protects from now on"))
    try bench.mode("--upload-order").expectRefusal(1, "the whole site")
  }

  // covers: F36
  @Test("the longer history of another machine is accepted, and said")
  func secondMachine() throws {
    let (bench, backup) = try withBackup()
    // The key's record here is that of the back-up: the second release was signed elsewhere.
    let head = "\(bench.site.keyFile).head"
    try Disk.remove(head)
    try Disk.copy("\(backup)/checkpoint", to: head)
    let published = try bench.publishing("v3")
    published.expect(0)
    #expect(published.error.contains("1 releases more than the record"))
    #expect(published.error.contains("another machine"))
    #expect(try bench.site.field("release") == "2")
  }

  @Test("two histories of the same length are told apart from a back-up")
  func forked() throws {
    let (bench, backup) = try withBackup()
    let head = "\(bench.site.keyFile).head"
    let kept = try Disk.read(head)
    try bench.restore(backup)
    try Disk.remove(head)
    try bench.publishing("v3").expect(0)
    try Disk.write(head, kept)
    try bench.publishing("v4").expectRefusal(5, "another history", "two machines", "--recover")
  }

  @Test("a clock behind the last release is refused, unless that one was wrong")
  func clock() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    // The release of a machine whose clock is ahead by far.
    let input = try bench.scratch.write("future", randomBytes(10))
    let future = UTCDate(seconds: Clocks.wall() + 200_000)
    let request = PublishRequest(
      file: input, site: bench.site.path, version: "v2", keyFiles: [bench.site.keyFile])
    _ = try Publisher(now: { future }, report: { _ in }).publish(request)
    try bench.publishing("v3").expectRefusal(2, "local clock says", "--clock-was-wrong")
    try bench.publishing("v3", "--clock-was-wrong").expect(0)
  }

  @Test("names that differ only in case are refused")
  func caseOnly() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    try bench.publishing("V1").expectRefusal(2, "the version V1 differs only in case from v1")
    try bench.publishing("v2", file: "Thing.bin")
      .expectRefusal(2, "the file Thing.bin differs only in case from thing.bin")
  }

  @Test("an immutable name with other bytes is never overwritten")
  func immutable() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let before = try bench.site.manifest()
    let path = "\(bench.site.path)/tile/0/000.p/2"
    try Disk.write(path, [1, 2, 3])
    try bench.publishing("v2").expectRefusal(6, "tile/0/000.p/2", "other bytes", "nothing was over")
    #expect(try Disk.read(path) == [1, 2, 3] && bench.site.manifest() == before)
    try Disk.remove(path)
    try bench.publishing("v2").expect(0)
    try bench.verifyLog().expect(0)
  }

  @Test("a key signs for one site at a time: locked, exit 7")
  func lockedKey() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let holder = open(bench.site.keyFile, O_RDONLY | O_CLOEXEC)
    #expect(holder >= 0 && flock(holder, LOCK_EX | LOCK_NB) == 0)
    defer { close(holder) }
    for outcome in [
      try bench.refresh(), try bench.publishing("v2"),
      try bench.mode("--recover", bench.server.base, signs: true),
    ] { outcome.expectRefusal(7, "another fetchres signs with", "hint: ") }
  }

  @Test("every mode that changes a site waits for nobody: locked, exit 7")
  func locked() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let lock = "\(bench.site.path)/.publish/lock"
    let holder = open(lock, O_RDWR | O_CLOEXEC)
    #expect(holder >= 0 && flock(holder, LOCK_EX | LOCK_NB) == 0)
    defer { close(holder) }
    let words = ["another fetchres publishes to", "hint: "]
    for outcome in [
      try bench.refresh(), try bench.mode("--prune", "v1"), try bench.mode("--abandon"),
      try bench.mode("--recover", bench.server.base, signs: true), try bench.publishing("v2"),
    ] { outcome.expectRefusal(7, words[0], words[1]) }
    // Those that only look are not kept out.
    try bench.mode("--upload-order").expect(0)
    try bench.verifyLog().expect(0)
  }
}
