import Glibc
import System
import Testing

/// The program on a system that does less than it says.
@Suite(.enabled(if: Preload.isPossible, Preload.need)) struct PreloadTests {
  @Test(
    "where every lock is granted, a pull that finishes while another still writes shows no wrong byte"
  )
  func grantedLocks() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let variables = try Preload.grantedLocks.variables(bench.scratch)
    let patient = ["--first-byte-timeout", "2s", "--stall", "1K/2s", "--give-up-after", "60s"]
    // The first one hangs in the middle, with everything open.
    let first = try bench.beginPull(release, upTo: 48, patient, variables: variables)
    try bench.origin().bend(nil)
    let second = try bench.fetchres.run(bench.pulling(), variables: variables)
    second.expect(0)
    try bench.pulled.expectNothingWrong(release)
    #expect(try bench.path().map { areEqual(try Disk.read($0), release.bytes) } == true)
    // Then it goes on: it writes what it still gets, and finds that somebody was there.
    let ended = try Outcome(of: first)
    #expect(ended.exitCode.map { [0, 6].contains($0) } == true, "\(ended.testDescription)")
    try bench.pull().expect(0)
    #expect(try bench.path().map { areEqual(try Disk.read($0), release.bytes) } == true)
    try bench.fetchres.run("verify", bench.directory).expect(0)
  }

  @Test("several pulls at once, each with the lock, end with the right bytes")
  func race() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(3_000_000))
    let variables = try Preload.grantedLocks.variables(bench.scratch)
    for round in 0..<3 {
      if round > 0 { try Disk.remove(bench.directory) }
      let children = try (0..<3).map { _ in
        try bench.fetchres.start(bench.pulling(), variables: variables)
      }
      let outcomes = try children.map { try Outcome(of: $0) }
      for outcome in outcomes {
        #expect(outcome.exitCode.map { [0, 6].contains($0) } == true, "\(outcome.testDescription)")
      }
      try bench.pulled.expectNothingWrong(release)
      if let path = try bench.path() { #expect(areEqual(try Disk.read(path), release.bytes)) }
      try bench.pull().expect(0)
      #expect(try bench.path().map { areEqual(try Disk.read($0), release.bytes) } == true)
      try bench.fetchres.run("verify", bench.directory).expect(0)
    }
  }

  @Test("reads and writes that do a part and are interrupted lose nothing")
  func shortCalls() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(10 * Site.blockSize + 5))
    let variables = try Preload.shortCalls.variables(bench.scratch)
    let output = bench.scratch("copy.bin")
    try bench.fetchres.run(bench.pulling(["-o", output]), variables: variables).expect(0)
    #expect(areEqual(try Disk.read(output), release.bytes))
    try bench.fetchres.run("verify", bench.directory).expect(0)
    let input = try bench.scratch.write("input.bin", release.bytes)
    try bench.fetchres.run(bench.site.publishing(input, version: "v2"), variables: variables)
      .expect(0)
    try bench.fetchres.run("log", "verify", bench.site.path).expect(0)
  }

  // covers: F26
  @Test("a file system that knows little is pulled to, resumed on, cleaned and published from")
  func simpleShare() throws {
    let bench = try Workbench()
    let variables = try Preload.simpleShare.variables(bench.scratch)
    let content = randomBytes(3 * Site.blockSize) + [UInt8](repeating: 0, count: 2 * Site.blockSize)
    let input = try bench.scratch.write("input.bin", content)
    try bench.fetchres.run(bench.site.publishing(input), variables: variables).expect(0)
    let output = bench.scratch("copy.bin")
    try bench.fetchres.run(bench.pulling(["-o", output]), variables: variables).expect(0)
    #expect(areEqual(try Disk.read(output), content))
    #expect(try Disk.read("\(bench.directory)/current") == Array("v1\n".utf8))

    let release = try bench.site.publish(randomBytes(80 * Site.blockSize), version: "v2")
    let child = try bench.beginPull(release, upTo: 48, variables: variables)
    child.send(SIGKILL)
    _ = child.wait(within: Fetchres.patience)
    try bench.origin().bend(nil)
    try bench.fetchres.run(bench.pulling(), variables: variables).expect(0)
    try bench.expectComplete(release)
    #expect(try bench.path() == "\(bench.directory)/v2/\(release.file)")
    try bench.fetchres.run(["clean", bench.directory, "--old-versions"], variables: variables)
      .expect(0)
    #expect(Disk.names(in: bench.directory) == [".fetchres", "current", "v2"])
    try bench.fetchres.run(["verify", bench.directory], variables: variables).expect(0)
  }
}
