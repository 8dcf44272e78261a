import Foundation
import Glibc
import System
import Testing

/// What `publish` writes, and what it refuses.
@Suite struct PublishTests {
  let scratch: Scratch
  let fetchres: Fetchres
  let site: Site

  init() throws {
    scratch = try Scratch()
    fetchres = Fetchres(scratch)
    site = try Site(fetchres, at: scratch("site"))
  }

  /// Fails unless the run is refused and the site is what it was.
  func expectRefusal(
    _ arguments: [String], _ code: Int32, _ words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try Snapshot(site.path)
    let outcome = try fetchres.run(arguments)
    outcome.expectRefusal(code, sourceLocation: sourceLocation)
    for word in words {
      #expect(
        outcome.error.contains(word), "'\(word)' is not in\n\(outcome.testDescription)",
        sourceLocation: sourceLocation)
    }
    let releases = "\(site.path)/releases"
    #expect(
      Disk.names(in: releases).allSatisfy { !$0.hasPrefix(".") }, sourceLocation: sourceLocation)
    let after = try Snapshot(site.path)
    #expect(after.served == before.served, sourceLocation: sourceLocation)
  }

  // MARK: What is written

  @Test("the manifest has exactly the lines that its format asks for")
  func manifestText() throws {
    try site.publish(
      randomBytes(2 * Site.blockSize + 1),
      ["--expires", "2099-01-02T03:04:05Z", "--mirror", "https://cdn.example.com/thing/"])
    let note = String(decoding: try site.manifest(), as: UTF8.self)
    let lines = note.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let published = try #require(try site.field("published"))
    let root = try #require(try site.field("root"))
    #expect(
      lines[..<14] == [
        "fetchres manifest v1", "origin example.org/thing", "version v1", "release 0",
        "size 131073", "block-size 65536", "blocks 3", "root \(root)", "file thing.bin",
        "published \(published)", "expires 2099-01-02T03:04:05Z", "key \(site.key)", "since 0",
        "mirror https://cdn.example.com/thing/",
      ])
    #expect(lines[14].isEmpty && lines[15].hasPrefix("\u{2014} example.org/thing "))
    #expect(lines.count == 17 && lines[16].isEmpty)
    #expect(root.utf8.count == 64 && root.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    let date = try #require(ISO8601DateFormatter().date(from: published))
    #expect(abs(date.timeIntervalSinceNow) < 60)
    #expect(try site.manifest() == site.manifest("v1"))
  }

  @Test("the site holds what a static host has to serve, and the log grows with each release")
  func siteLayout() throws {
    try site.publish(randomBytes(300 * 1_024), blockSize: 1_024)
    try site.publish(randomBytes(10), version: "v2", file: "other")
    func exists(_ path: String) -> Bool { Disk.exists("\(site.path)/\(path)") }
    for path in [
      "manifest", "checkpoint", "releases/v1/manifest", "releases/v1/thing.bin",
      "releases/v1/tile/0/000", "releases/v1/tile/0/001.p/44", "releases/v1/tile/1/000.p/1",
      "releases/v2/manifest", "releases/v2/other", "releases/v2/tile/0/000.p/1",
      "tile/0/000.p/1", "tile/0/000.p/2", "tile/entries/000.p/1", "tile/entries/000.p/2",
    ] { #expect(exists(path), "\(path)") }
    #expect(Disk.status("\(site.path)/releases/v1/tile/0/000")?.st_size == 8_192)
    #expect(Disk.status("\(site.path)/releases/v1/tile/0/001.p/44")?.st_size == 44 * 32)

    let checkpoint = String(decoding: try Disk.read("\(site.path)/checkpoint"), as: UTF8.self)
    let lines = checkpoint.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0] == "example.org/thing" && lines[1] == "2" && lines[3].isEmpty)
    #expect(lines[4].hasPrefix("\u{2014} example.org/thing ") && lines.count == 6)
    // An entry is a whole manifest, behind its length.
    let first = try site.manifest("v1")
    let entries = try Disk.read("\(site.path)/tile/entries/000.p/2")
    #expect(
      Array(entries.prefix(first.count + 2))
        == [UInt8(first.count >> 8), UInt8(first.count & 0xFF)] + first)
    #expect(Disk.permissions("\(site.path)/.publish") == 0o700)
    #expect(Disk.permissions("\(site.path)/manifest") == 0o666 & ~Disk.umask)
    #expect(Disk.permissions("\(site.path)/releases/v1") == 0o777 & ~Disk.umask)
  }

  @Test("the file is copied, and a later change of the input does not reach the site")
  func copies() throws {
    let release = try site.publish(randomBytes(300_000))
    let served = "\(site.path)/releases/v1/thing.bin"
    #expect(areEqual(try Disk.read(served), release.bytes))
    #expect(Disk.status(served)?.st_nlink == 1)
    try Disk.flip("\(scratch.path)/input/v1-thing.bin", at: 5)
    #expect(areEqual(try Disk.read(served), release.bytes))
  }

  @Test("--link shares the file and takes away the permission to write")
  func links() throws {
    let input = try scratch.write("thing.bin", randomBytes(300_000))
    chmod(input, 0o664)
    try fetchres.run(site.publishing(input, ["--link"])).expect(0)
    let (one, other) = (Disk.status(input), Disk.status("\(site.path)/releases/v1/thing.bin"))
    #expect(one?.st_ino == other?.st_ino && one?.st_nlink == 2)
    #expect(Disk.permissions(input) == 0o444)
  }

  @Test("block sizes from one byte to 64 MiB are taken", arguments: [1, 2, 1_000, 67_108_864])
  func blockSizes(_ blockSize: Int) throws {
    let bytes = randomBytes(600)
    try site.publish(bytes, blockSize: blockSize)
    #expect(try site.field("block-size") == "\(blockSize)")
    #expect(try site.field("blocks") == "\((600 + blockSize - 1) / blockSize)")
  }

  @Test(
    "the default block size is 1 MiB for what is small", arguments: [0, 1, 1_048_576, 3_000_000])
  func defaultBlockSize(_ size: Int) throws {
    try site.publish(randomBytes(size), blockSize: nil)
    #expect(try site.field("block-size") == "1048576")
    #expect(try site.field("blocks") == "\((size + 1_048_575) / 1_048_576)")
  }

  // MARK: Twice

  @Test("the same version with the same content changes nothing, says so, and ends with 0")
  func again() throws {
    let release = try site.publish(randomBytes(300_000))
    let before = try Snapshot(site.path)
    let input = try scratch.write("again.bin", release.bytes)
    let outcome = try fetchres.run(site.publishing(input, ["--as", "thing.bin"]))
    outcome.expect(0)
    #expect(outcome.error.contains("nothing changed"))
    // Also when the blocks would be cut otherwise now: the bytes are the same.
    try fetchres.run(site.publishing(input, blockSize: nil, ["--as", "thing.bin"])).expect(0)
    #expect(try Snapshot(site.path).served == before.served)
  }

  @Test(
    "the same version with other content is refused",
    arguments: ["changed", "longer", "empty", "renamed"])
  func reused(_ how: String) throws {
    let release = try site.publish(randomBytes(300_000))
    var bytes = release.bytes
    switch how {
    case "changed": bytes[299_999] ^= 1
    case "longer": bytes.append(0)
    case "empty": bytes = []
    default: break
    }
    let input = try scratch.write("again.bin", bytes)
    let name = how == "renamed" ? "renamed.bin" : "thing.bin"
    try expectRefusal(
      site.publishing(input, ["--as", name]), 5, "version v1 is published with other content",
      "a version never changes")
  }

  @Test("a version that differs only in case from another is refused")
  func caseOnly() throws {
    try site.publish(randomBytes(100))
    let input = try scratch.write("again.bin", randomBytes(100))
    try expectRefusal(site.publishing(input, version: "V1"), 2, "differs only in case from v1")
  }

  // MARK: Keys

  @Test("a key of another origin is refused")
  func keyOfAnother() throws {
    try site.publish(randomBytes(100))
    let other = try Site(fetchres, at: scratch("other"), origin: "example.org/other")
    let input = try scratch.write("again.bin", randomBytes(100))
    var arguments = site.publishing(input, version: "v2")
    arguments[arguments.firstIndex(of: site.keyFile)!] = other.keyFile
    try expectRefusal(arguments, 5, "the site is that of example.org/thing", "example.org/other")
    try expectRefusal(
      site.publishing(input, version: "v2", ["--key", other.keyFile]), 2, "not of one origin")
  }

  @Test(
    "what is no secret key is refused",
    arguments: ["missing", "empty", "noise", "public", "two", "large"])
  func noKey(_ kind: String) throws {
    try site.publish(randomBytes(100))
    let input = try scratch.write("again.bin", randomBytes(100))
    let file = scratch("bad.key")
    let secret = try Disk.read(site.keyFile)
    switch kind {
    case "missing": break
    case "empty": try Disk.write(file, [])
    case "noise": try Disk.write(file, randomBytes(200))
    case "public": try Disk.write(file, Array("\(site.key)\n".utf8))
    case "two": try Disk.write(file, secret + secret)
    default: try Disk.write(file, secret + [UInt8](repeating: 0x0A, count: 10_000))
    }
    var arguments = site.publishing(input, version: "v2")
    arguments[arguments.firstIndex(of: site.keyFile)!] = file
    let outcome = try fetchres.run(arguments)
    #expect(outcome.exitCode == 2 || outcome.exitCode == 6, "\(outcome.testDescription)")
    #expect(outcome.error.contains(file))
    // No part of a key is ever shown.
    #expect(!outcome.error.contains("PRIVATE") && !Disk.exists("\(site.path)/releases/v2"))
  }

  @Test("a release that two keys signed is taken under each of them")
  func coSigned() throws {
    let bench = try Workbench()
    let second = bench.scratch("second.key")
    let secondKey = try bench.fetchres.run("keygen", "example.org/thing", "--out", second).line
    let release = try bench.site.publish(randomBytes(1_000), ["--key", second])
    #expect(try bench.site.field("key") == bench.site.key)
    for key in [bench.site.key, secondKey] {
      try bench.fetchres.run([
        "pull", bench.server.base, "--key", key, "-d", bench.scratch(String(key.suffix(3))),
      ]).expect(0)
    }
    #expect(release.blockCount == 1)
  }
}

extension Snapshot {
  /// Without what no server shows.
  var served: Snapshot { filtered { !$0.split(separator: "/").contains { $0.hasPrefix(".") } } }
}
