import Glibc
import System
import Testing

/// The copy that `-o` asks for.
@Suite struct OutputTests {
  static func published(_ size: Int = 300_000) throws -> (Workbench, Release) {
    let bench = try Workbench()
    return (bench, try bench.site.publish(randomBytes(size)))
  }

  @Test("-o puts a copy there and prints its path", arguments: [0, 1, 3_000_000])
  func copies(_ size: Int) throws {
    let (bench, release) = try Self.published(size)
    let output = bench.scratch("out.bin")
    let outcome = try bench.pull("-o", output)
    outcome.expect(0)
    #expect(outcome.output == output + "\n")
    #expect(areEqual(try Disk.read(output), release.bytes))
    #expect(Disk.permissions(output) == 0o666 & ~Disk.umask)
    try bench.expectComplete(release)
    // Never a second name of the file that is kept.
    #expect(Disk.status(output)?.st_nlink == 1)
    let kept = Disk.status("\(bench.directory)/v1/thing.bin")
    #expect(kept?.st_nlink == 1 && kept?.st_ino != Disk.status(output)?.st_ino)
    #expect(kept?.st_mtim.tv_sec == Disk.status(output)?.st_mtim.tv_sec)
    #expect(Disk.names(in: bench.scratch.path).filter { $0.hasPrefix(".out") }.isEmpty)
  }

  @Test("a later run with -o copies what is there, asking for no data")
  func copiesLater() throws {
    let (bench, release) = try Self.published()
    try bench.pull().expect(0)
    try bench.origin().forget()
    try bench.pull("-o", bench.scratch("out.bin")).expect(0)
    #expect(areEqual(try Disk.read(bench.scratch("out.bin")), release.bytes))
    #expect(try bench.origin().count(of: release.dataPath) == 0)
    try bench.pull("--offline", "-o", bench.scratch("off.bin")).expect(0)
    #expect(areEqual(try Disk.read(bench.scratch("off.bin")), release.bytes))
  }

  @Test("a relative -o is relative to the working directory")
  func relative() throws {
    let (bench, release) = try Self.published()
    let outcome = try bench.fetchres.run(bench.pulling(["-o", "out.bin"]), in: bench.scratch.path)
    outcome.expect(0)
    #expect(outcome.line == "out.bin")
    #expect(areEqual(try Disk.read(bench.scratch("out.bin")), release.bytes))
  }

  @Test("a file that is there is replaced, as a whole and under a new inode")
  func replaces() throws {
    let (bench, release) = try Self.published()
    let output = try bench.scratch.write("out.bin", randomBytes(500_000))
    let before = Disk.status(output)?.st_ino
    try Disk.copy(output, to: bench.scratch("aside"))
    #expect(link(output, bench.scratch("second name")) == 0)
    try bench.pull("-o", output).expect(0)
    #expect(areEqual(try Disk.read(output), release.bytes))
    #expect(Disk.status(output)?.st_ino != before)
    // What else has the old file keeps it.
    #expect(
      areEqual(
        try Disk.read(bench.scratch("second name")), try Disk.read(bench.scratch("aside"))))
  }

  @Test("a symbolic link is replaced and never followed", arguments: [true, false])
  func replacesLink(_ isDangling: Bool) throws {
    let (bench, release) = try Self.published()
    let target = bench.scratch("target")
    if !isDangling { try Disk.write(target, [1, 2, 3]) }
    let output = bench.scratch("out.bin")
    try Disk.link(output, to: target)
    try bench.pull("-o", output).expect(0)
    #expect(Disk.linkTarget(output) == nil)
    #expect(areEqual(try Disk.read(output), release.bytes))
    #expect(isDangling ? !Disk.exists(target) : try Disk.read(target) == [1, 2, 3])
  }

  @Test("a symbolic link in the place of the temporary file is not followed either")
  func temporaryLink() throws {
    let (bench, release) = try Self.published()
    let target = try bench.scratch.write("target", [1, 2, 3])
    try Disk.link(bench.scratch(".out.bin.fetchres-new"), to: target)
    try bench.pull("-o", bench.scratch("out.bin")).expect(0)
    #expect(try Disk.read(target) == [1, 2, 3])
    #expect(areEqual(try Disk.read(bench.scratch("out.bin")), release.bytes))
  }

  @Test("-o onto another file system copies", .enabled(if: SmallDisk.isPossible, SmallDisk.need))
  func otherDevice() throws {
    let (bench, release) = try Self.published()
    let disk = try SmallDisk(1 << 20)
    try bench.pull("-o", disk("out.bin")).expect(0)
    #expect(areEqual(try Disk.read(disk("out.bin")), release.bytes))
    #expect(Disk.names(in: disk.path) == ["out.bin"])
  }

  @Test("a directory where the copy should go is refused before anything is asked for")
  func directory() throws {
    let (bench, _) = try Self.published()
    try Disk.makeDirectory(bench.scratch("out.bin"))
    let outcome = try bench.pull("--json", "-o", bench.scratch("out.bin"))
    try outcome.expectFailure("io-error", 6, "cannot write", "is a directory")
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test("a result that cannot be written is a failure")
  func fullOutput() throws {
    let (bench, release) = try Self.published()
    let child = try Child(
      "/bin/sh", ["-c", "exec \"$0\" \"$@\" >/dev/full", Fetchres.binary] + bench.pulling(),
      environment: bench.fetchres.environment, directory: nil)
    let full = try Outcome(of: child)
    full.expect(6)
    #expect(full.error.contains("cannot write to standard output"))
    try bench.expectComplete(release)
  }

  @Test("a file that may not become so large is a failure, and without that limit the rest follows")
  func fileSizeLimit() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(2 << 20))
    let child = try Child(
      "/bin/sh",
      ["-c", "ulimit -f 1024; exec \"$0\" \"$@\"", Fetchres.binary] + bench.pulling(["--json"]),
      environment: bench.fetchres.environment, directory: nil)
    try Outcome(of: child).expectFailure("io-error", 6, "file too large", "ulimit")
    try bench.expectUnfinished(release)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  @Test("a copy into a directory that is not there is refused before data are asked for")
  func noDirectory() throws {
    let (bench, release) = try Self.published()
    let outcome = try bench.pull("--json", "-o", bench.scratch("nowhere/out.bin"))
    try outcome.expectFailure("io-error", 6, "nowhere/out.bin")
    #expect(try bench.origin().count(of: release.dataPath) == 0)
  }

  // MARK: Streams

  @Test("-o - streams the file and prints nothing else there", arguments: [0, 1, 3_000_000])
  func streams(_ size: Int) throws {
    let (bench, release) = try Self.published(size)
    let outcome = try bench.pull("-o", "-")
    outcome.expect(0)
    #expect(areEqual(outcome.bytes, release.bytes))
    try bench.expectComplete(release)
  }

  @Test("nothing is streamed of a version that does not verify")
  func streamsNothingUnverified() throws {
    let (bench, release) = try Self.published()
    try bench.origin().bendData(of: release) { request, response in
      if let range = request.range, range.contains(70_000) {
        response.bytes[70_000 - Int(range.lowerBound)] ^= 1
      }
    }
    let outcome = try bench.pull("-o", "-")
    outcome.expect(4)
    #expect(outcome.bytes.isEmpty)
  }

  @Test("-o - and --json both want standard output")
  func both() throws {
    let (bench, release) = try Self.published()
    let outcome = try bench.pull("-o", "-", "--json")
    outcome.expect(2)
    try outcome.expectFailure("usage", 2, "-o - and --json")
    #expect(try bench.origin().entries.isEmpty)
    #expect(!Disk.exists("\(bench.directory)/\(release.version)"))
  }

  @Test("a reader that goes away ends the stream with an error, and not by a signal")
  func readerGone() throws {
    let (bench, release) = try Self.published(3_000_000)
    try bench.pull().expect(0)
    let shell = try Child(
      "/bin/sh",
      ["-c", "{ \"$@\"; echo $? >\"$0\"; } | head -c 10 >/dev/null", bench.scratch("code")]
        + [Fetchres.binary] + bench.pulling(["-o", "-"]),
      environment: bench.fetchres.environment)
    #expect(shell.wait(within: Fetchres.patience) == .exited(0))
    #expect(try Disk.read(bench.scratch("code")) == Array("6\n".utf8))
    #expect(
      String(decoding: shell.error, as: UTF8.self).contains("cannot write to standard output"))
    try bench.expectComplete(release)
  }
}
