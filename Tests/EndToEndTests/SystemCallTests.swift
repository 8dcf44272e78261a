import Glibc
import System
import Testing

/// The program itself, with one system call at a time failing under it. What is on disk then is
/// judged, and a rerun has to complete it.
@Suite(.enabled(if: Tracer.isPossible, Tracer.need)) struct SystemCallTests {
  static let injections = [
    Tracer.Injection("pwrite64", "ENOSPC"), Tracer.Injection("pwrite64", "EIO"),
    Tracer.Injection("pwrite64", "EDQUOT"), Tracer.Injection("pwrite64", "EINTR"),
    Tracer.Injection("fsync,fdatasync", "EIO"), Tracer.Injection("fsync,fdatasync", "ENOSPC"),
    Tracer.Injection("rename,renameat,renameat2", "EIO"),
    Tracer.Injection("rename,renameat,renameat2", "ENOSPC"),
    Tracer.Injection("ftruncate", "EIO"), Tracer.Injection("fallocate", "EOPNOTSUPP"),
    Tracer.Injection("fallocate", "ENOSPC"), Tracer.Injection("openat", "EMFILE"),
    Tracer.Injection("openat", "EIO"), Tracer.Injection("close", "EIO"),
    Tracer.Injection("flock", "EIO"), Tracer.Injection("flock", "EINTR"),
    Tracer.Injection("mkdir,mkdirat", "EDQUOT"), Tracer.Injection("unlink,unlinkat", "EIO"),
    Tracer.Injection("utimensat", "EIO"),
  ]

  /// Blocks of bytes, and one of zeros, which is punched out.
  private static func content() -> [UInt8] {
    randomBytes(2 * Site.blockSize) + [UInt8](repeating: 0, count: Site.blockSize)
      + randomBytes(3 * Site.blockSize + 77)
  }

  @Test(
    "whichever call fails, nothing wrong is there and a rerun completes it", arguments: injections)
  func failing(_ injection: Tracer.Injection) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(Self.content())
    let count = try Tracer.count(
      bench.fetchres, bench.pulling(), injection.calls, log: bench.scratch("trace"))
    try #require(count > 0 || injection.calls == "fallocate", "the call is never made")
    // The first ones, and some of those up to the end.
    let step = max(1, count / 4)
    for number in Set([1, 2] + stride(from: 3, through: count, by: step)).sorted() {
      try Disk.remove(bench.directory)
      try Disk.remove("\(bench.fetchres.home)/state")
      let child = try Tracer.start(bench.fetchres, bench.pulling(), injection, at: number)
      try judge(child, bench, release, "\(injection.testDescription) \(number) of \(count)")
    }
  }

  @Test("a disk on which every sync fails from some time on keeps nothing that it did not write")
  func syncsThatFail() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    // Interrupted, so that what was verified is committed: that sync fails.
    let origin = try bench.origin()
    let end = Int64(48 * release.blockSize)
    origin.bendData(of: release) { request, response in
      guard let range = request.range, range.upperBound > end else { return }
      response.limit = max(0, end - range.lowerBound)
      response.ending = range.lowerBound < end ? .close : .hold
    }
    let child = try Tracer.start(
      bench.fetchres, bench.pulling(["--json"]), Tracer.Injection("fdatasync", "EIO"), at: 1,
      andAllAfter: true)
    try #require(
      child.waitForOutput(within: Fetchres.patience) { $0.contains("\"verified\":\(end),") })
    child.send(SIGINT)
    let outcome = try Outcome(of: child)
    #expect(outcome.exitCode == 130 || outcome.exitCode == 6, "\(outcome.testDescription)")
    try bench.expectUnfinished(release)
    let partial = try bench.pulled.onlyPartial()
    #expect(try partial.journal.claims().isEmpty)
    // What was not synced would be clean and still not on the disk: it has to be written again.
    #expect(try partial.present(release).isEmpty)
    origin.bend(nil)
    origin.forget()
    try bench.expectResume(release, fetching: 0..<80)
  }

  @Test(
    "a publish under which a call fails serves the old release or the new one",
    arguments: [
      Tracer.Injection("fsync,fdatasync", "EIO"), Tracer.Injection("pwrite64", "ENOSPC"),
      Tracer.Injection("rename,renameat,renameat2", "EIO"),
    ])
  func publishing(_ injection: Tracer.Injection) throws {
    let bench = try Workbench()
    let old = try bench.site.publish(randomBytes(1_000))
    let input = try bench.scratch.write("input.bin", Self.content())
    for number in [1, 2, 3, 5, 8, 13] {
      let version = "v\(number + 1)"
      let child = try Tracer.start(
        bench.fetchres, bench.site.publishing(input, version: version), injection, at: number)
      let ended = try Outcome(of: child)
      #expect(ended.exitCode == 0 || ended.exitCode == 6, "\(ended.testDescription)")
      try bench.fetchres.run("log", "verify", bench.site.path).expect(0)
      try bench.fetchres.run(bench.site.publishing(input, version: version)).expect(0)
      #expect(try bench.site.field("version") == version)
    }
    #expect(try bench.site.field("version", old.version) == old.version)
  }

  private func judge(
    _ child: Child, _ bench: Workbench, _ release: Release, _ what: String
  ) throws {
    let ended = try Outcome(of: child)
    let comment = Comment("\(what): \(ended.testDescription)")
    #expect(ended.exitCode.map { $0 < 128 } == true, comment)
    try bench.pulled.expectNothingWrong(release)
    // Where the file is on its way to its version, the journal speaks of what a rerun takes back.
    for partial in bench.pulled.partials where Disk.exists(partial.blocks) {
      let present = try partial.present(release)
      #expect(try partial.journal.claims().isSubset(of: present), comment)
    }
    if let path = try bench.path() {
      #expect(areEqual(try Disk.read(path), release.bytes), comment)
    } else {
      #expect(ended.exitCode != 0, comment)
    }
    let again = try bench.pull()
    #expect(again.exitCode == 0, "\(what), then \(again.testDescription)")
    try bench.expectComplete(release)
  }
}
