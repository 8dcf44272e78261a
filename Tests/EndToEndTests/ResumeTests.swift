import Crypto
import Glibc
import System
import Testing

/// A run goes on where an earlier one stopped, whatever became of its records.
@Suite struct ResumeTests {
  static let cut = 60

  /// An interrupted pull of 80 blocks, 60 of them verified.
  static func interrupted() throws -> (Workbench, Release) {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize - 100))
    try bench.interruptPull(release, upTo: cut)
    #expect(try bench.pulled.onlyPartial().journal.claims() == Set(0..<cut))
    try bench.expectUnfinished(release)
    return (bench, release)
  }

  @Test("what was verified before is not fetched again")
  func resumes() throws {
    let (bench, release) = try Self.interrupted()
    let status = try bench.status()
    #expect(status.complete.isEmpty && status.current == nil)
    #expect(status.unfinished.map(\.version) == ["v1"])
    #expect(status.unfinished.first?.onDisk == Int64(Self.cut * Site.blockSize))
    try bench.expectResume(release, fetching: Self.cut..<80)
  }

  // covers: F23
  @Test("a flipped byte costs its block, and there is no marker before that is fetched again")
  func flipped() throws {
    let (bench, release) = try Self.interrupted()
    try Disk.flip(try bench.pulled.onlyPartial().blocks, at: Int64(17 * Site.blockSize + 99))
    let seen = Monitor<[Bool]>([])
    let pulled = bench.pulled
    try bench.origin().bendData(of: release) { request, _ in
      if request.range?.contains(Int64(17 * Site.blockSize)) == true {
        seen.change { $0.append(pulled.markers.isEmpty) }
      }
    }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    let rejected = try outcome.events("block-rejected")
    #expect(rejected.map(\.block) == [17] && rejected.first?.wasOnDisk == true)
    #expect(rejected.first?.category == "block-mismatch")
    #expect(seen.look { $0 } == [true])
    #expect(try bench.origin().blocksAsked(of: release) == Set(Self.cut..<80).union([17]))
    try bench.expectComplete(release)
    try bench.fetchres.run("verify", bench.directory).expect(0)
  }

  @Test("many flipped bytes cost their blocks alone")
  func manyFlipped() throws {
    let (bench, release) = try Self.interrupted()
    let blocks = [0, 1, 30, 59]
    for block in blocks {
      try Disk.flip(try bench.pulled.onlyPartial().blocks, at: Int64(block * Site.blockSize))
    }
    try bench.expectResume(release, fetching: blocks + Array(Self.cut..<80))
  }

  @Test("temporary blocks that are gone or shorter are fetched again", arguments: [nil, 0, 20])
  func shortened(_ blocks: Int?) throws {
    let (bench, release) = try Self.interrupted()
    let file = try bench.pulled.onlyPartial().blocks
    if let blocks {
      try Disk.truncate(file, to: Int64(blocks * Site.blockSize))
    } else {
      try Disk.remove(file)
    }
    try bench.expectResume(release, fetching: (blocks ?? 0)..<80)
  }

  // MARK: Records

  enum JournalDamage: String, Sendable, CaseIterable {
    case gone, empty, cutInTheHeader, cutInARecord, zeros, zerosBehindTheHeader, noise
    case ofAnotherResource, claimsWhatIsNotThere, claimsBeyondTheEnd, recordMoved

    func apply(to journal: JournalFile) throws {
      var bytes = try Disk.read(journal.path)
      let header = JournalFile.headerSize
      switch self {
      case .gone: return try Disk.remove(journal.path)
      case .empty: bytes = []
      case .cutInTheHeader: bytes = Array(bytes.prefix(header - 1))
      case .cutInARecord: bytes.removeLast(5)
      case .zeros: bytes = [UInt8](repeating: 0, count: bytes.count)
      case .zerosBehindTheHeader:
        bytes.replaceSubrange(header..., with: repeatElement(0, count: bytes.count - header))
      case .noise: bytes = randomBytes(bytes.count)
      case .ofAnotherResource:
        let start = bytes[..<20] + randomBytes(32)
        bytes.replaceSubrange(
          ..<header, with: start + SHA256.digest(Array(start)).bytes.prefix(12))
      case .claimsWhatIsNotThere: return try journal.forge(0..<80)
      case .claimsBeyondTheEnd: return try journal.forge(70..<5_000)
      case .recordMoved: bytes += bytes[header..<header + JournalFile.recordSize]
      }
      try Disk.write(journal.path, bytes)
    }
  }

  // covers: F24
  @Test(
    "whatever becomes of the journal, what is on disk is hashed again and kept",
    arguments: JournalDamage.allCases)
  func journal(_ damage: JournalDamage) throws {
    let (bench, release) = try Self.interrupted()
    try damage.apply(to: try bench.pulled.onlyPartial().journal)
    try bench.expectResume(release, fetching: Self.cut..<80)
  }

  // covers: F24
  @Test("a journal that claims everything of an empty file makes nothing available")
  func forgedClaims() throws {
    let (bench, release) = try Self.interrupted()
    let partial = try bench.pulled.onlyPartial()
    try partial.journal.forge(0..<80)
    try Disk.truncate(partial.blocks, to: 0)
    try bench.expectResume(release, fetching: 0..<80)
  }

  enum FileDamage: String, Sendable, CaseIterable {
    case gone, empty, flipped, cut, zeros, longer

    func apply(to path: String) throws {
      var bytes = try Disk.read(path)
      switch self {
      case .gone: return try Disk.remove(path)
      case .empty: bytes = []
      case .flipped: bytes[bytes.count / 2] ^= 1
      case .cut: bytes.removeLast(7)
      case .zeros: bytes = [UInt8](repeating: 0, count: bytes.count)
      case .longer: bytes += [1]
      }
      try Disk.write(path, bytes)
    }
  }

  @Test("a damaged snapshot is replaced, and its blocks are kept", arguments: FileDamage.allCases)
  func snapshot(_ damage: FileDamage) throws {
    let (bench, release) = try Self.interrupted()
    try damage.apply(to: try bench.pulled.onlyPartial().snapshot)
    try bench.expectResume(release, fetching: Self.cut..<80)
    #expect(try Disk.read("\(bench.directory)/v1/manifest") == bench.site.manifest())
  }

  @Test(
    "tiles on disk are proven again, and fetched again if they are wrong",
    arguments: FileDamage.allCases)
  func tiles(_ damage: FileDamage) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(600 * 1_024), blockSize: 1_024)
    try bench.interruptPull(release, upTo: 512)
    let tiles = try bench.pulled.onlyPartial().tiles
    #expect(Disk.names(in: tiles) == ["0", "1"])
    for tile in Disk.names(in: tiles) { try damage.apply(to: "\(tiles)/\(tile)") }
    try bench.expectResume(release, fetching: 512..<600)
    let asked = try bench.origin().entries.filter { $0.request.path.hasPrefix(release.tilePath) }
    #expect(asked.isEmpty == (damage == .longer), "\(asked.map(\.request.path))")
  }

  @Test("tiles that are whole are not fetched again")
  func tilesAreKept() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(600 * 1_024), blockSize: 1_024)
    try bench.interruptPull(release, upTo: 512)
    try bench.expectResume(release, fetching: 512..<600)
    let asked = try bench.origin().entries.map(\.request.path)
    #expect(!asked.contains { $0.hasPrefix(release.tilePath) }, "\(asked)")
  }
}
