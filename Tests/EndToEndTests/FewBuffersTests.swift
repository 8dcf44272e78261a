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

  @Test("a tree that does not fit, kept on disk by an earlier run, is learned all the same")
  func resumedTree() throws {
    let bench = try Workbench()
    let old = randomBytes(4 << 20)
    try bench.site.publish(old, version: "v1", blockSize: 64)
    try bench.pull().expect(0)
    let new = Array(old[..<(2 << 20)]) + randomBytes(2 << 20)
    let release = try bench.site.publish(new, version: "v2", blockSize: 64)
    let origin = try bench.origin()
    origin.bendData(of: release) { _, response in response = OriginResponse(404, []) }
    // All tiles come, and the data do not.
    try bench.pull("--memory", "1").expect(4)
    origin.bend(nil)
    try bench.pull("--memory", "1", "--give-up-after", "10s").expect(0)
    try bench.expectComplete(release)
  }

  @Test("blocks of one byte, whose proofs outgrow them by far, arrive")
  func smallestBlocks() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000), blockSize: 1)
    try bench.pull("--memory", "1", "--give-up-after", "20s").expect(0)
    try bench.expectComplete(release)
  }

  @Test("a journal that was blown up takes no memory")
  func hugeJournal() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(4 << 20), blockSize: 64 << 10)
    let origin = try bench.origin()
    origin.bendData(of: release) { _, response in response = OriginResponse(404, []) }
    try bench.pull().expect(4)
    try Disk.truncate(try bench.pulled.onlyPartial().path + "/journal", to: 1 << 40)
    origin.bend(nil)
    let child = try bench.fetchres.start(bench.pulling())
    let memory = child.peakMemory(within: Fetchres.patience)
    try Outcome(of: child).expect(0)
    #expect(memory > 0 && memory < 120 << 20)
    try bench.expectComplete(release)
  }
}
