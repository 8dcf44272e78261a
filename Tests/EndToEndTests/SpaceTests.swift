import Glibc
import System
import Testing

/// A disk that is too small, or becomes so.
@Suite(.enabled(if: SmallDisk.isPossible, SmallDisk.need)) struct SpaceTests {
  static let reserve: Int64 = 16 << 20

  @Test("too little space is said with both figures before any data are asked for")
  func preflight() throws {
    let disk = try SmallDisk(20 << 20)
    let bench = try Workbench(directory: disk("pulled"))
    let release = try bench.site.publish(randomBytes(5 << 20))
    let outcome = try bench.pull("--json")
    let needed = Int64(release.bytes.count) + Self.reserve
    try outcome.expectFailure("no-space", 6, "\(needed) are needed", "bytes free", "hint: free")
    let message = try #require(try outcome.last().message)
    let figures = message.split { !$0.isNumber }.compactMap { Int64($0) }
    #expect(figures.contains { $0 > 16 << 20 && $0 <= 20 << 20 }, "\(message)")
    #expect(try bench.origin().count(of: release.dataPath) == 0)

    // With some more, it runs.
    try disk.resize(to: 24 << 20)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  @Test("the copy for -o counts, on the same disk and on another one", arguments: [true, false])
  func preflightOfTheCopy(_ isSame: Bool) throws {
    let disk = try SmallDisk(24 << 20)
    let bench = try Workbench(directory: disk("pulled"))
    let release = try bench.site.publish(randomBytes(5 << 20))
    let other = try SmallDisk(4 << 20)
    let output = isSame ? disk("copy.bin") : other("copy.bin")
    let outcome = try bench.pull("--json", "-o", output)
    try outcome.expectFailure("no-space", 6)
    let message = try #require(try outcome.last().message)
    #expect(message.contains(isSame ? "\((10 << 20) + Self.reserve)" : "\(5 << 20)"), "\(message)")
    #expect(try bench.origin().count(of: release.dataPath) == 0)
    #expect(!Disk.exists(output))
  }

  @Test("what is on disk already does not count again")
  func preflightOfARest() throws {
    let disk = try SmallDisk(30 << 20)
    let bench = try Workbench(directory: disk("pulled"))
    let release = try bench.site.publish(randomBytes(8 << 20))
    try bench.interruptPull(release, upTo: 96)
    // Room for the last quarter, and not for all.
    try disk.fill("other", leaving: Self.reserve + (3 << 20))
    try bench.expectResume(release, fetching: 96..<128)
  }

  // covers: F25
  @Test("a disk that fills up in the middle ends the run with 6; with space again, it goes on")
  func fillsUp() throws {
    let disk = try SmallDisk(40 << 20)
    let bench = try Workbench(directory: disk("pulled"))
    let release = try bench.site.publish(randomBytes(16 << 20))
    // Another file grows as soon as the transfer is under way.
    let filled = Monitor(false)
    try bench.origin().bendData(of: release) { request, _ in
      guard let range = request.range, range.upperBound > 8 << 20 else { return }
      let isFirst = filled.change { filled in
        defer { filled = true }
        return !filled
      }
      if isFirst { try? disk.fill("other", leaving: 1 << 20) }
    }
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("no-space", 6, "hint: free some space")
    try bench.expectUnfinished(release)
    let kept = try bench.pulled.onlyPartial().present(release)
    #expect(!kept.isEmpty && kept.count < release.blockCount)

    // As long as there is none, no data are asked for.
    try bench.origin().forget()
    try bench.pull("--json").expectFailure("no-space", 6)
    #expect(try bench.origin().count(of: release.dataPath) == 0)

    try Disk.remove(disk("other"))
    try bench.origin().bend(nil)
    try bench.origin().forget()
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    #expect(try bench.origin().blocksAsked(of: release).isDisjoint(with: kept))
  }

  @Test("publish into a disk that is too small ends with 6 and serves nothing of it")
  func publish() throws {
    let disk = try SmallDisk(4 << 20)
    let bench = try Workbench()
    let site = try Site(bench.fetchres, at: disk("site"), keyFile: bench.scratch("small.key"))
    let input = try bench.scratch.write("input.bin", randomBytes(6 << 20))
    let outcome = try bench.fetchres.run(site.publishing(input))
    outcome.expectRefusal(6, "no space left")
    #expect(!Disk.exists(site.manifestPath()) && !Disk.exists(site.manifestPath("v1")))
    try site.publish(randomBytes(100_000))
  }

  // covers: F25
  @Test("a disk that may only be read ends the run with 6")
  func readOnly() throws {
    let disk = try SmallDisk(40 << 20)
    let bench = try Workbench(directory: disk("pulled"))
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    try bench.interruptPull(release, upTo: 48)
    try disk.setReadOnly(true)
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("permission", 6, "read-only", "hint: ")
    try disk.setReadOnly(false)
    try bench.expectResume(release, fetching: 48..<80)
  }
}
