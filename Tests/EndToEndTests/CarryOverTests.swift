import System
import Testing

/// What is on this disk already is not fetched.
@Suite struct CarryOverTests {
  private static let size = Site.blockSize

  /// Bytes of `data` requests that the origin sent.
  private func sent(_ bench: Workbench, _ release: Release) throws -> Int {
    try bench.origin().entries(of: release.dataPath).reduce(0) { $0 + Int($1.bodyBytes) }
  }

  @Test("a version of which a tenth is new fetches that tenth")
  func tenth() throws {
    let bench = try Workbench()
    var bytes = randomBytes(200 * Self.size + 77)
    try bench.site.publish(bytes)
    try bench.pull().expect(0)
    bytes.replaceSubrange(60 * Self.size..<80 * Self.size, with: randomBytes(20 * Self.size))
    let second = try bench.site.publish(bytes, version: "v2")
    let pulled = try bench.pull("--json")
    pulled.expect(0)
    try bench.expectComplete(second)
    #expect(try sent(bench, second) == 20 * Self.size)
    #expect(try pulled.last().fetched == Int64(20 * Self.size))
  }

  @Test("blocks that moved, also far, are found where they are")
  func moved() throws {
    let bench = try Workbench()
    let bytes = randomBytes(100 * Self.size)
    try bench.site.publish(bytes)
    try bench.pull().expect(0)
    func blocks(_ range: Range<Int>) -> ArraySlice<UInt8> {
      bytes[range.lowerBound * Self.size..<range.upperBound * Self.size]
    }
    let fresh = randomBytes(Self.size)
    let changed = Array(blocks(90..<100) + fresh[...] + blocks(0..<40) + blocks(41..<90))
    let second = try bench.site.publish(changed, version: "v2")
    try bench.pull().expect(0)
    try bench.expectComplete(second)
    #expect(try sent(bench, second) == Self.size)
  }

  @Test("zeros become holes, and equal blocks are asked for once")
  func equal() throws {
    let bench = try Workbench()
    // A block to begin with that is no use: one request goes out before the leaves are known.
    let (first, twin) = (randomBytes(150 * Self.size), randomBytes(Self.size))
    let zeros = [UInt8](repeating: 0, count: 300 * Self.size)
    let twins = Array(repeatElement(twin, count: 50).joined())
    let release = try bench.site.publish(first + zeros + twins)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    #expect(try sent(bench, release) <= (150 + 1) * Self.size)
    let allocated = try #require(Disk.allocated("\(bench.directory)/v1/thing.bin"))
    #expect(allocated <= 201 * Self.size)
  }

  @Test("any local file can be named, and what is wrong with it costs nothing but its use")
  func named() throws {
    let bench = try Workbench()
    let bytes = randomBytes(60 * Self.size + 1)
    let release = try bench.site.publish(bytes)
    let local = bench.site.path + "-local"
    var other = bytes
    other[5 * Self.size] ^= 1
    try Disk.write(local, randomBytes(3) + [] + other)
    // Shifted by three bytes, it is of no use.
    try bench.pull("--reuse", local).expect(0)
    try bench.expectComplete(release)
    #expect(try sent(bench, release) == bytes.count)
    try bench.fetchres.run("clean", bench.directory, "--old-versions").expect(0)
    try Disk.remove(bench.directory)
    try Disk.write(local, other)
    let before = try sent(bench, release)
    try bench.pull("--reuse", local, "--reuse", "/dev/null/none").expectRefusal(
      2, "cannot read /dev/null/none for --reuse")
    try bench.pull("--reuse", local).expect(0)
    try bench.expectComplete(release)
    #expect(try sent(bench, release) - before == Self.size)
  }
}
