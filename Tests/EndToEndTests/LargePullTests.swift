import System
import Testing

/// Numbers that no longer fit into 32 bits.
@Suite struct LargePullTests {
  static let size: Int64 = 5 << 30

  /// Files full of holes take next to nothing, unless something goes wrong.
  static let hasRoom: Bool = {
    guard let directory = try? Descriptor.open(Scratch.base, Descriptor.directory) else {
      return false
    }
    return ((try? directory.freeBytes()) ?? 0) > size + (1 << 30)
  }()

  @Test(
    "five gigabytes, nearly all of them holes, cross the line of 32 bits and stay holes",
    .enabled(if: hasRoom, "needs six gigabytes free"))
  func acrossTheLine() throws {
    let bench = try Workbench(Nginx.here == nil ? .origin : .nginx)
    let line: Int64 = 1 << 32
    let input = bench.site.path + "-input.bin"
    try Disk.truncate(input, to: Self.size)
    let places = [0, line - 5, line, Self.size - 11]
    let marks = places.map { _ in randomBytes(11) }
    for (place, mark) in zip(places, marks) { try Disk.poke(input, at: place, mark) }
    defer { try? Disk.remove(input) }

    let published = try bench.fetchres.run(
      bench.site.publishing(input, blockSize: nil, ["--link", "--as", "thing.bin"]))
    published.expect(0)
    #expect(try bench.site.field("block-size") == "1048576")
    #expect(try bench.site.field("blocks") == "5120")
    #expect(Disk.permissions(input).map { $0 & 0o222 } == 0)

    let pulled = try bench.pull("--json")
    pulled.expect(0)
    // Blocks of zeros need not travel; the four that hold marks have to.
    let fetched = try #require(try pulled.last().fetched)
    #expect(fetched >= 4 << 20 && fetched <= Self.size)
    let file = "\(bench.directory)/v1/thing.bin"
    #expect(Disk.status(file)?.st_size == Int(Self.size))
    #expect(try #require(Disk.allocated(file)) <= 16 << 20)
    for (place, mark) in zip(places, marks) {
      // The mark below the line is overwritten by the one on it.
      let right = place == line - 5 ? mark.prefix(5) : mark[...]
      #expect(try Disk.peek(file, at: place, count: right.count) == Array(right))
    }
    try bench.fetchres.run("verify", bench.directory).expect(0)
  }
}
