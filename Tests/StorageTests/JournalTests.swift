import Crypto
import Glibc
import Storage
import System
import TestSupport
import Testing

/// The journal is a hint. What it may never do is claim what was not written; what it should do is
/// keep every claim that was durable.
@Suite struct JournalTests {
  private static let identity = SHA256.digest(Array("this resource".utf8))
  private static let count: Int64 = 1_000
  private let fileSystem = MemoryFileSystem()
  private let root: any Directory

  init() throws { root = try fileSystem.openDirectory("/") }

  private func open(
    in directory: (any Directory)? = nil, identity: Digest = JournalTests.identity
  ) throws(SystemError) -> Journal {
    try Journal(
      in: directory ?? root, name: "journal", identity: identity, blockCount: Self.count)
  }

  private func bytes() throws -> [UInt8] { try root.readFile("journal", limit: 1 << 20) }

  private func put(_ bytes: [UInt8]) throws {
    let file = try root.openFile("journal", .create(permissions: 0o600))
    try file.truncate(to: 0)
    try file.writeAll(bytes)
  }

  @Test func `a new journal claims nothing and is whole`() throws {
    let journal = try open()
    #expect(journal.claims.isEmpty)
    #expect(!journal.isDamaged)
    #expect(try bytes().count == 64)
  }

  @Test func `what was appended is claimed when it is opened again`() throws {
    let ranges: [Range<Int64>] = [0..<1, 5..<64, 999..<1_000, 0..<1_000, 5..<6]
    let journal = try open()
    try journal.append(Array(ranges[..<2]))
    try journal.append([])
    try journal.append(Array(ranges[2...]))
    let again = try open()
    #expect(again.claims == ranges)
    #expect(!again.isDamaged)
    try again.append([7..<8])
    #expect(try open().claims == ranges + [7..<8])
  }

  @Test(arguments: 0..<32)
  func `a record that was cut short is no damage, and the next one takes its place`(
    _ cut: Int
  ) throws {
    try open().append([1..<2, 3..<4])
    try put(try bytes().dropLast(32 - cut))
    let journal = try open()
    #expect(journal.claims == [1..<2])
    #expect(!journal.isDamaged)
    try journal.append([9..<10])
    let after = try open()
    #expect(after.claims == [1..<2, 9..<10])
    #expect(!after.isDamaged)
  }

  @Test func `a journal of zeros claims nothing, is damaged, and works again`() throws {
    try open().append([1..<2, 3..<4])
    try put([UInt8](repeating: 0, count: try bytes().count))
    let journal = try open()
    #expect(journal.claims.isEmpty)
    #expect(journal.isDamaged)
    try journal.append([5..<6])
    #expect(try open().claims == [5..<6])
  }

  @Test func `a record of zeros is damage, and those around it count`() throws {
    try open().append([1..<2, 3..<4, 5..<6])
    var torn = try bytes()
    for index in 96..<128 { torn[index] = 0 }
    try put(torn)
    let journal = try open()
    #expect(journal.claims == [1..<2, 5..<6])
    #expect(journal.isDamaged)
    try journal.append([7..<8])
    #expect(try open().claims == [1..<2, 5..<6, 7..<8])
  }

  @Test func `the journal of another resource claims nothing here, and is replaced`() throws {
    try open(identity: SHA256.digest([1])).append([1..<2])
    let journal = try open()
    #expect(journal.claims.isEmpty)
    #expect(journal.isDamaged)
    try journal.append([3..<4])
    #expect(try open().claims == [3..<4])
  }

  @Test func `the records of another resource behind our header claim nothing`() throws {
    try open().append([1..<2])
    let ours = try bytes()
    try put([])
    try open(identity: SHA256.digest([1])).append([3..<4, 5..<6])
    try put(Array(ours.prefix(64)) + (try bytes().dropFirst(64)))
    let journal = try open()
    #expect(journal.claims.isEmpty)
    #expect(journal.isDamaged)
  }

  @Test func `no flipped bit anywhere makes a claim that was not written`() throws {
    let written: [Range<Int64>] = [0..<3, 500..<1_000]
    try open().append(written)
    let good = try bytes()
    for position in good.indices {
      for bit in 0..<8 {
        var bad = good
        bad[position] ^= 1 << UInt8(bit)
        try put(bad)
        let journal = try open()
        #expect(journal.isDamaged, "byte \(position), bit \(bit)")
        #expect(journal.claims.allSatisfy(written.contains), "byte \(position), bit \(bit)")
        // One record is lost, or all behind a header that is not ours.
        #expect(journal.claims.count == (position < 64 ? 0 : 1))
      }
    }
  }

  @Test func `a record that stands at another position is refused`() throws {
    try open().append([1..<2, 3..<4])
    let good = try bytes()
    let (header, first, second) = (good[..<64], good[64..<96], good[96...])
    try put(Array(header + second + first))
    #expect(try open().claims.isEmpty)
    try put(Array(header + second))
    #expect(try open().claims.isEmpty)
    try put(Array(header + first + first))
    let journal = try open()
    #expect(journal.claims == [1..<2])
    #expect(journal.isDamaged)
  }

  @Test func `claims beyond the blocks of the resource are dropped as damage`() throws {
    let wide = try Journal(
      in: root, name: "journal", identity: Self.identity, blockCount: 1 << 40)
    let last = Int64(1) << 40 - 2
    try wide.append([
      0..<Self.count, Self.count..<Self.count + 1, 0..<Self.count + 1, last..<last + 1,
    ])
    let journal = try open()
    #expect(journal.claims == [0..<Self.count])
    #expect(journal.isDamaged)
  }

  @Test func `a symbolic link or a directory in its place is refused`() throws {
    try root.put("elsewhere", "")
    try root.makeSymbolicLink("journal", to: "elsewhere")
    expectFailure(ELOOP) { _ = try open() }
    try root.remove("journal")
    try root.makeDirectory("journal", permissions: 0o700)
    expectFailure(EISDIR) { _ = try open() }
    #expect(try root.text("elsewhere") == "")
  }

  // MARK: Power

  @Test func `wherever the power goes, a durable claim stays and none is invented`() throws {
    let before: [Range<Int64>] = [0..<10, 20..<30]
    let batches: [[Range<Int64>]] = [[40..<41, 50..<52], [60..<61], [70..<75, 80..<90, 91..<92]]
    let start = MemoryFileSystem()
    let directory = try start.openDirectory("/")
    try open(in: directory).append(before)
    try directory.sync()

    var durable: [Range<Int64>] = []
    var search = PowerCutSearch(seeds: 24)
    try search.run(from: start) { fileSystem in
      durable = before
      let journal = try open(in: try fileSystem.openDirectory("/"))
      for batch in batches {
        try journal.append(batch)
        durable += batch
      }
    } examine: { fileSystem, end in
      let directory = try fileSystem.openDirectory("/")
      let journal = try open(in: directory)
      #expect(journal.claims.starts(with: durable), "\(end)")
      #expect(journal.claims.allSatisfy((before + batches.flatMap { $0 }).contains), "\(end)")
      try journal.append([99..<100])
      let again = try open(in: try fileSystem.crash(survivors: .nothingUnsynced).openDirectory("/"))
      #expect(again.claims == journal.claims + [99..<100], "\(end)")
    }
    #expect(search.points == 7)
    #expect(search.states > 80)
  }

  @Test func `a power cut while it is made leaves a journal that can be made`() throws {
    var search = PowerCutSearch(seeds: 24)
    try search.run(from: MemoryFileSystem()) { fileSystem in
      let directory = try fileSystem.openDirectory("/")
      try open(in: directory).append([1..<2])
      try directory.sync()
    } examine: { fileSystem, end in
      let directory = try fileSystem.openDirectory("/")
      let claims = try open(in: directory).claims
      #expect(claims == [1..<2] || !end.isComplete && claims.isEmpty, "\(end)")
      try open(in: directory).append([3..<4])
      #expect(try open(in: directory).claims == claims + [3..<4], "\(end)")
    }
    #expect(search.points > 5)
  }

  @Test func `an append that fails claims nothing, and the next one takes its place`() throws {
    let journal = try open()
    try journal.append([1..<2])
    fileSystem.failNext(.write, ENOSPC)
    expectFailure(ENOSPC) { try journal.append([3..<4]) }
    #expect(try open().claims == [1..<2])
    try journal.append([5..<6])
    #expect(try open().claims == [1..<2, 5..<6])
  }
}
