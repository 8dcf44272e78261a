import Glibc
import System
import Testing

/// A run that ended between the last block and the marker, and directories that look as if one had.
@Suite struct FinishTests {
  /// A complete version, taken apart again: its file lies in `ready/`, with what comes after it if
  /// wanted.
  static func stoppedInReady(marked: Bool, noted: Bool) throws -> (Workbench, Release, String) {
    let (bench, release) = try complete()
    let root = try #require(try bench.site.field("root"))
    let partial = "\(bench.directory)/.fetchres/partial/v1-\(root.prefix(16))"
    try Disk.makeDirectory(partial)
    try Disk.copy("\(bench.directory)/v1/manifest", to: "\(partial)/manifest")
    try Disk.move("\(bench.directory)/v1", to: "\(partial)/ready")
    try Disk.remove("\(bench.directory)/current")
    if !marked { try Disk.remove("\(partial)/ready/complete") }
    if !noted { try Disk.remove("\(partial)/ready/manifest") }
    return (bench, release, partial)
  }

  static func complete() throws -> (Workbench, Release) {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(20 * Site.blockSize + 5))
    try bench.pull().expect(0)
    try bench.origin().forget()
    return (bench, release)
  }

  @Test(
    "a file that waits in ready is taken back and finished, fetching nothing",
    arguments: [(true, true), (false, true), (false, false)])
  func ready(_ marked: Bool, _ noted: Bool) throws {
    let (bench, release, _) = try Self.stoppedInReady(marked: marked, noted: noted)
    #expect(try bench.path() == nil)
    try bench.expectResume(release, fetching: [])
    #expect(bench.pulled.current == "v1")
  }

  @Test("a file in ready is hashed again, marker or not", arguments: [true, false])
  func readyDamaged(_ marked: Bool) throws {
    let (bench, release, partial) = try Self.stoppedInReady(marked: marked, noted: true)
    try Disk.flip("\(partial)/ready/thing.bin", at: Int64(7 * Site.blockSize))
    try bench.expectResume(release, fetching: [7])
  }

  @Test("an empty ready is no obstacle")
  func readyEmpty() throws {
    let (bench, release) = try ResumeTests.interrupted()
    try Disk.makeDirectory("\(try bench.pulled.onlyPartial().path)/ready")
    try bench.expectResume(release, fetching: ResumeTests.cut..<80)
  }

  enum MarkerDamage: String, Sendable, CaseIterable {
    case markerGone, markerEmpty, markerFlipped, markerCut, markerLonger, markerOfAnotherVersion
    case manifestGone, manifestFlipped
  }

  @Test(
    "a version without a valid marker is not available; a run hashes it again and fetches nothing",
    arguments: MarkerDamage.allCases)
  func withoutMarker(_ damage: MarkerDamage) throws {
    let (bench, release) = try Self.complete()
    let (marker, manifest) = ("\(bench.directory)/v1/complete", "\(bench.directory)/v1/manifest")
    let bytes = try Disk.read(marker)
    switch damage {
    case .markerGone: try Disk.remove(marker)
    case .markerEmpty: try Disk.write(marker, [])
    case .markerFlipped: try Disk.flip(marker, at: Int64(bytes.count - 3))
    case .markerCut: try Disk.write(marker, bytes.dropLast())
    case .markerLonger: try Disk.write(marker, bytes + [0x0A])
    case .markerOfAnotherVersion:
      let text = String(decoding: bytes, as: UTF8.self)
      try Disk.write(marker, Array(text.replacing("version v1", with: "version v2").utf8))
    case .manifestGone: try Disk.remove(manifest)
    case .manifestFlipped: try Disk.flip(manifest, at: 40)
    }
    #expect(try bench.path() == nil)
    #expect(try bench.status().complete.isEmpty)
    let verified = try bench.fetchres.run("verify", bench.directory)
    if damage == .markerGone {
      verified.expectRefusal(1, "no complete version")
    } else {
      verified.expect(4)
    }
    try bench.expectResume(release, fetching: [])
  }

  @Test(
    "a version whose file has another size is not available, and only what is missing is fetched")
  func shortFile() throws {
    let (bench, release) = try Self.complete()
    try Disk.truncate("\(bench.directory)/v1/thing.bin", to: Int64(18 * Site.blockSize))
    #expect(try bench.path() == nil)
    try bench.expectResume(release, fetching: 18..<21)
  }

  @Test("an incomplete version that holds files of others is left alone")
  func foreignFiles() throws {
    let (bench, release) = try Self.complete()
    try Disk.remove("\(bench.directory)/v1/complete")
    try Disk.write("\(bench.directory)/v1/notes.txt", Array("mine".utf8))
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("io-error", 6, "cannot take back the incomplete", "v1")
    #expect(try Disk.read("\(bench.directory)/v1/notes.txt") == Array("mine".utf8))
    try Disk.remove("\(bench.directory)/v1/notes.txt")
    try bench.expectResume(release, fetching: [])
  }

  @Test("a current that names nothing is repaired", arguments: ["v9", "../../etc", "", nil])
  func currentRepaired(_ target: String?) throws {
    let (bench, release) = try Self.complete()
    let current = "\(bench.directory)/current"
    try Disk.remove(current)
    if let target {
      if target.isEmpty {
        try Disk.write(current, Array("v1\n".utf8))
      } else {
        try Disk.link(current, to: target)
      }
    }
    // The only complete version is what path answers all the same.
    try bench.expectComplete(release)
    try bench.expectResume(release, fetching: [])
    #expect(bench.pulled.current == "v1")
  }
}
