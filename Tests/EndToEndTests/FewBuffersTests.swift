import System
import Testing

/// Blocks and trees that the memory of a run holds only a small part of.
@Suite struct FewBuffersTests {
  @Test("large blocks over several connections go on with three buffers")
  func largeBlocks() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(96 << 20), blockSize: 4 << 20)
    try bench.pull("--memory", "1", "--connections", "8", "--give-up-after", "10s").expect(0)
    try bench.expectComplete(release)
  }
}
