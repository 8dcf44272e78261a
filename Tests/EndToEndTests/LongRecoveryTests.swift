import Manifest
import Publishing
import Storage
import System
import TestSupport
import Testing

/// Recovery of a log with very many releases, in the memory that a short one takes.
@Suite struct LongRecoveryTests {
  /// Recovers a lost site whose only version was refreshed so often; the peak of the program's memory.
  private func peak(releases count: Int64) throws -> Int64 {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(100_000))
    let log = LongLog(
      try Manifest(selfSigned: try bench.site.manifest()),
      key: try KeyFile(bench.site.keyFile, RealFileSystem()).key, count: count)
    let mirror = try bench.mirror()
    for (path, bytes) in log.files { try Disk.write("\(bench.scratch("mirror"))/\(path)", bytes) }
    try Disk.remove(bench.site.path)
    let child = try bench.fetchres.start([
      "publish", "--recover", mirror.base, "--site", bench.site.path, "--key", bench.site.keyFile,
    ])
    let peak = child.peakMemory(within: 10 * Fetchres.patience)
    try Outcome(of: child).expect(0)
    for path in ["checkpoint", "manifest", "releases/v1/manifest"] {
      #expect(try Disk.read("\(bench.site.path)/\(path)") == log.files[path])
    }
    for (path, bytes) in log.files {
      #expect(try Disk.read("\(bench.site.path)/\(path)") == bytes, "\(path)")
    }
    #expect(peak > 0)
    return peak
  }

  private func compare(_ count: Int64) throws {
    let (short, long) = (try peak(releases: 1_000), try peak(releases: count))
    #expect(long - short < 16 << 20, "\(short) bytes, then \(long)")
  }

  @Test("a log of 20,000 releases is recovered in the memory that 1,000 take")
  func many() throws { try compare(20_000) }

  @Test(
    "a log of 100,000 releases is recovered in the memory that 1,000 take",
    .enabled(
      if: ThisProcess.environment("FETCHRES_LONG_TESTS") != nil,
      "set FETCHRES_LONG_TESTS for a log of 100,000 releases"))
  func veryMany() throws { try compare(100_000) }
}
