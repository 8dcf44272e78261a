import System
import Testing

/// A pull from beginning to end, from every server that is there.
@Suite struct PullTests {
  /// Around every edge of a block size of 64 KiB.
  static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 131_073, 5_000_000]

  @Test(
    "what was published arrives, whole and marked, whatever its size",
    arguments: Server.available, sizes)
  func arrives(_ server: Server, _ size: Int) throws {
    let bench = try Workbench(server)
    let release = try bench.site.publish(randomBytes(size))
    let pulled = try bench.pull("--json")
    pulled.expect(0)
    let complete = try pulled.last()
    #expect(complete.event == "complete" && complete.fetched == Int64(size))
    #expect(complete.path == "\(bench.directory)/v1/thing.bin")
    try bench.expectComplete(release)
    #expect(bench.pulled.current == "v1")

    let verified = try bench.fetchres.run("verify", bench.directory)
    verified.expect(0)
    #expect(verified.line == "\(bench.directory)/v1/thing.bin: holds")
  }
}
