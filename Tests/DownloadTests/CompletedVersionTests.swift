import Crypto
import Failure
import Manifest
import Storage
import System
import TestSupport
import Testing

@testable import Download

/// What counts as available, and what does not.
@Suite struct CompletedVersionTests {
  private let made = MadeResource.standard
  private let fileSystem = MemoryFileSystem()
  private let target: any Directory
  private let version: any Directory

  init() throws {
    try DiskPull(fileSystem: fileSystem).run(made)
    target = try fileSystem.openDirectory("/data")
    version = try target.openDirectory("1.0")
  }

  private var found: CompletedVersion? { CompletedVersion("1.0", in: target) }

  @Test func `a finished version is complete, with the permissions and the time of a result`()
    throws
  {
    #expect(found?.manifest == made.manifest)
    #expect(found?.note == made.note)
    for name in ["world.map", "manifest", "complete"] {
      let status = try version.status(name)
      #expect(status.permissions == 0o644, "\(name)")
      #expect(status.modified.seconds == made.manifest.published.seconds, "\(name)")
    }
    #expect(try target.status(".fetchres").permissions == 0o700)
  }

  @Test func `the marker is the text of the contract`() {
    let manifest = made.manifest
    let text = """
      fetchres complete v1
      origin maps.example.com/world
      version 1.0
      release 0
      file world.map
      size 18000
      root \(manifest.root)
      manifest-sha256 \(SHA256.digest(made.note))

      """
    #expect(CompletedVersion.marker(manifest, note: made.note) == Array(text.utf8))
  }

  @Test func `a marker cut anywhere, or with any bit changed, is none`() throws {
    let good = CompletedVersion.marker(made.manifest, note: made.note)
    for count in 0..<good.count {
      try version.replaceFile("complete", Array(good.prefix(count)))
      #expect(found == nil, "\(count) bytes")
    }
    for position in good.indices {
      var bad = good
      bad[position] ^= 1
      try version.replaceFile("complete", bad)
      #expect(found == nil, "byte \(position)")
    }
    try version.replaceFile("complete", good + [UInt8(ascii: "\n")])
    #expect(found == nil)
    try version.replaceFile("complete", good)
    #expect(found != nil)
  }

  @Test func `a marker needs its very manifest`() throws {
    let other = try MadeResource("1.0", release: 0, seed: 1)
    try version.replaceFile("manifest", other.note)
    #expect(found == nil)
    // Also with a marker of its own, if the bytes are those of another version.
    let second = try MadeResource("2.0", release: 1, seed: 1)
    try version.replaceFile("manifest", second.note)
    try version.replaceFile(
      "complete", CompletedVersion.marker(second.manifest, note: second.note))
    #expect(found == nil)
    try version.remove("manifest")
    #expect(found == nil)
  }

  @Test func `a manifest whose signature is broken counts for nothing`() throws {
    var note = made.note
    note[note.count - 10] ^= 1
    try version.replaceFile("manifest", note)
    try version.replaceFile("complete", CompletedVersion.marker(made.manifest, note: note))
    #expect(found == nil)
  }

  @Test func `the file has to be a regular one of the right size`() throws {
    let file = try version.openFile("world.map", .readWrite)
    for size in [17_999, 18_001, 0] as [Int64] {
      try file.truncate(to: size)
      #expect(found == nil)
    }
    try file.truncate(to: 18_000)
    #expect(found != nil)
    try version.rename("world.map", to: target, "elsewhere")
    #expect(found == nil)
    try version.makeSymbolicLink("world.map", to: "../elsewhere")
    #expect(found == nil)
  }

  @Test(arguments: ["complete", "manifest"])
  func `a symbolic link in place of a small file is refused`(_ name: String) throws {
    try version.rename(name, to: target, "elsewhere")
    try version.makeSymbolicLink(name, to: "../elsewhere")
    #expect(found == nil)
  }

  @Test func `a symbolic link in place of the version is refused`() throws {
    try target.rename("1.0", to: target, "elsewhere")
    try target.makeSymbolicLink("1.0", to: "elsewhere")
    #expect(found == nil)
    #expect(CompletedVersion("elsewhere", in: target) == nil)
  }

  @Test func `a name that is no version is not looked at`() {
    for name in ["", ".", "..", ".fetchres", "current", "1.0/", "../data/1.0"] {
      #expect(CompletedVersion(name, in: target) == nil)
    }
  }
}
