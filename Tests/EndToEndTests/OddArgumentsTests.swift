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
}
