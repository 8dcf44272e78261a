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

  @Test("a URL without a scheme is quoted without its password")
  func passwordWithoutScheme() throws {
    let bench = try Workbench()
    let outcome = try bench.fetchres.run("pull", "user:hunter2@example.com/x")
    outcome.expect(2)
    #expect(!outcome.error.contains("hunter2"))
  }
}
