import Glibc
import System
import Testing

/// Arguments that nobody had in mind.
@Suite struct OddArgumentsTests {
  @Test("a copy replaces no device and no pipe")
  func oddOutputs() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let pipe = bench.scratch("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    try bench.pull("-o", pipe).expect(6)
    #expect(Disk.status(pipe).map { $0.st_mode & S_IFMT } == S_IFIFO)
    // A link that leads to one, as /dev/stdout is, is no place for a file either.
    try bench.origin().forget()
    for target in [pipe, "/dev/null", "/proc/self/fd/1"] {
      let link = bench.scratch("link")
      try Disk.link(link, to: target)
      try bench.pull("-o", link).expect(6)
      #expect(Disk.linkTarget(link) == target)
      try Disk.remove(link)
    }
    #expect(try bench.origin().entries.isEmpty)
    let link = bench.scratch("link")
    try Disk.link(link, to: bench.scratch("nothing"))
    try bench.pull("-o", link).expect(0)
    #expect(Disk.linkTarget(link) == nil)
  }

  @Test("a date beyond all calendars is refused")
  func farExpiry() throws {
    let bench = try Workbench()
    let input = try bench.scratch.write("input", [1])
    for time in ["+106751991167300d", "+9223372036854775807"] {
      try bench.fetchres.run(bench.site.publishing(input, ["--expires", time])).expect(2)
    }
  }

  @Test(
    "a time beyond all patience is refused",
    arguments: ["connect-timeout", "first-byte-timeout", "give-up-after", "stall"])
  func endlessTime(_ name: String) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    for time in ["9999999999999999", "106751991167300d"] {
      try bench.pull("--\(name)", name == "stall" ? "1K/\(time)" : time).expectRefusal(2, name)
    }
  }

  @Test("a file longer than its kind can be does not hold, and is no fault of the disk")
  func longFiles() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let long = try bench.scratch.write("long", [])
    try Disk.truncate(long, to: 70 << 20)
    let root = String(repeating: "0", count: 64)
    for words in [
      ["inspect", long], ["integrity", "ingest", long], ["integrity", "verify-evidence", long],
      ["proof", "check", "--index", "0", "--count", "1", "--root", root, "--block", long],
    ] {
      try bench.fetchres.run(words).expectRefusal(4, "\(long) is no", "more than")
    }
    try bench.mode("--release-checkpoint", long).expectRefusal(2, "\(long) is no checkpoint")
    let piped = try Child(
      "/bin/sh", ["-c", "exec \"$0\" integrity ingest - <\"$1\"", Fetchres.binary, long],
      environment: bench.fetchres.environment)
    try Outcome(of: piped).expectRefusal(4, "standard input is no checkpoint")
    for file in ["checkpoint", "manifest", "tile/0/000.p/1", "tile/entries/000.p/1"] {
      let path = "\(bench.site.path)/\(file)"
      let bytes = try Disk.read(path)
      try Disk.truncate(path, to: 70 << 20)
      try bench.verifyLog().expectRefusal(4, file)
      try Disk.write(path, bytes)
      try bench.verifyLog().expect(0)
    }
  }

  @Test("a URL without a scheme is quoted without its password")
  func passwordWithoutScheme() throws {
    let bench = try Workbench()
    let outcome = try bench.fetchres.run("pull", "user:hunter2@example.com/x")
    outcome.expect(2)
    #expect(!outcome.error.contains("hunter2"))
  }
}
