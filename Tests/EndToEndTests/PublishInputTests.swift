import Glibc
import System
import Testing

/// Input files, names, versions and sizes that `publish` does not take.
@Suite struct PublishInputTests {
  let scratch: Scratch
  let fetchres: Fetchres
  let site: Site

  init() throws {
    scratch = try Scratch()
    fetchres = Fetchres(scratch)
    site = try Site(fetchres, at: scratch("site"))
  }

  func expectRefusal(
    _ arguments: [String], _ code: Int32, _ words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let outcome = try fetchres.run(arguments)
    outcome.expectRefusal(code, sourceLocation: sourceLocation)
    for word in words {
      #expect(
        outcome.error.contains(word), "'\(word)' is not in\n\(outcome.testDescription)",
        sourceLocation: sourceLocation)
    }
    #expect(!Disk.exists("\(site.path)/manifest"), sourceLocation: sourceLocation)
    #expect(Disk.names(in: "\(site.path)/releases").isEmpty, sourceLocation: sourceLocation)
  }

  @Test("a file that is not there, or is none, is refused")
  func noFile() throws {
    try expectRefusal(site.publishing(scratch("missing.bin")), 2, "there is no file", "missing.bin")
    try Disk.makeDirectory(scratch("directory"))
    try expectRefusal(site.publishing(scratch("directory")), 2, "is no regular file")
    #expect(mkfifo(scratch("pipe"), 0o600) == 0)
    try expectRefusal(site.publishing(scratch("pipe")), 2, "is no regular file")
    try expectRefusal(site.publishing("/dev/null", ["--as", "x"]), 2, "is no regular file")
    let file = try scratch.write("file", [1])
    try expectRefusal(site.publishing("\(file)/below"), 6, "not a directory")
  }

  @Test(
    "a file that may not be read is refused",
    .enabled(if: geteuid() != 0, "root may read everything"))
  func unreadable() throws {
    let input = try scratch.write("input.bin", [1])
    chmod(input, 0)
    try expectRefusal(site.publishing(input), 6, "permission denied")
  }

  @Test("a symbolic link is followed for a copy and refused for --link")
  func symbolicLink() throws {
    let bytes = randomBytes(1_000)
    try scratch.write("target.bin", bytes)
    try Disk.link(scratch("input.bin"), to: scratch("target.bin"))
    try expectRefusal(site.publishing(scratch("input.bin"), ["--link"]), 2, "is a symbolic link")
    #expect(Disk.permissions(scratch("target.bin")).map { $0 & 0o200 } != 0)
    try fetchres.run(site.publishing(scratch("input.bin"))).expect(0)
    #expect(areEqual(try Disk.read("\(site.path)/releases/v1/input.bin"), bytes))
    #expect(Disk.linkTarget("\(site.path)/releases/v1/input.bin") == nil)
  }

  @Test("--link across file systems is refused", .enabled(if: SmallDisk.isPossible, SmallDisk.need))
  func linkAcross() throws {
    let disk = try SmallDisk(1 << 20)
    try Disk.write(disk("input.bin"), randomBytes(1_000))
    try expectRefusal(
      site.publishing(disk("input.bin"), ["--link"]), 2, "on another file system",
      "publish without --link")
  }

  enum Change: String, Sendable, CaseIterable {
    case written, longer, shorter
  }

  @Test(
    "a file that changes while it is read is refused, and nothing of it is served",
    arguments: Change.allCases)
  func changing(_ change: Change) throws {
    // Large enough to be read for a while, and made of holes.
    let input = scratch("input.bin")
    try Disk.truncate(input, to: 1 << 30)
    let child = try fetchres.start(site.publishing(input, blockSize: nil))
    let copy = "\(site.path)/releases/.new-v1/input.bin"
    #expect(waitUntil { (Disk.status(copy)?.st_size ?? 0) > 0 })
    switch change {
    case .written: try Disk.poke(input, at: 77, [1])
    case .longer: try Disk.truncate(input, to: (1 << 30) + 1)
    case .shorter: try Disk.truncate(input, to: 1 << 29)
    }
    let outcome = try Outcome(of: child)
    outcome.expectRefusal(6, "the input file")
    #expect(!Disk.exists("\(site.path)/manifest"))
    #expect(Disk.names(in: "\(site.path)/releases").isEmpty)
  }

  static let names = [
    "", ".", "..", ".hidden", "-dash", "a/b", "a b", "ä", "a\nb", "a:b", "a*", "a%20b",
    String(repeating: "x", count: 129),
  ]

  @Test(
    "names that a manifest does not allow are refused",
    arguments: names + ["manifest", "Complete", "TILE"])
  func fileNames(_ name: String) throws {
    let input = try scratch.write("input.bin", [1])
    try expectRefusal(site.publishing(input, ["--as", name]), 2, "is no file name", "--as")
  }

  @Test(
    "versions that a manifest does not allow are refused",
    arguments: names + ["current", "CURRENT"])
  func versions(_ version: String) throws {
    let input = try scratch.write("input.bin", [1])
    try expectRefusal(site.publishing(input, version: version), 2, "is no version")
  }

  @Test("an input whose own name is not allowed needs another")
  func ownName() throws {
    let input = try scratch.write("my world.map", [1])
    try expectRefusal(site.publishing(input), 2, "'my world.map' is no file name", "--as")
    try fetchres.run(site.publishing(input, ["--as", "my-world.map"])).expect(0)
    #expect(try Disk.read("\(site.path)/releases/v1/my-world.map") == [1])
  }

  @Test("the longest names are taken")
  func longNames() throws {
    let name = String(repeating: "x", count: 127) + "+"
    try site.publish([1, 2, 3], version: name, file: "short")
    try site.publish([1, 2, 3], version: "v2", file: String(repeating: "y", count: 128))
    #expect(try site.field("version", name) == name)
  }

  @Test(
    "block sizes out of bounds are refused",
    arguments: ["0", "67108865", "65M", "1X", "", "-1", "1.5M", "9223372036854775808", "1T"])
  func blockSizes(_ size: String) throws {
    let input = try scratch.write("input.bin", [1])
    try expectRefusal(site.publishing(input, blockSize: nil, ["--block-size", size]), 2, "block")
  }

  @Test("more blocks than a tree may have are refused")
  func tooManyBlocks() throws {
    let input = scratch("input.bin")
    try Disk.truncate(input, to: (1 << 27) + 1)
    try expectRefusal(site.publishing(input, blockSize: 1), 2, "cannot be cut into blocks of 1")
  }

  @Test(
    "dates, mirrors and next keys that make no sense are refused",
    arguments: [
      (["--expires", "yesterday"], "'yesterday' is no date"),
      (["--expires", "2001-01-01T00:00:00Z"], "expire before it is published"),
      (["--expires", "2099-02-30T00:00:00Z"], "is no date"),
      (["--expires", "2099-01-01"], "is no date"), (["--expires", "+"], "is no date"),
      (["--expires", "+0s"], "expire before"),
      (["--mirror", "http://Example.org/"], "is no mirror URL"),
      (["--mirror", "http://example.org/x"], "is no mirror URL"),
      (["--mirror", "ftp://example.org/"], "is no mirror URL"),
      (["--mirror", "http://user@example.org/"], "is no mirror URL"),
      (["--mirror", "http://example.org/?x"], "is no mirror URL"),
      (["--next-key", "nonsense"], "is no public key"),
    ])
  func otherValues(_ arguments: [String], _ words: String) throws {
    let input = try scratch.write("input.bin", [1])
    try expectRefusal(site.publishing(input, arguments), 2, words)
  }
}
