import Failure
import Glibc
import SignedNote
import Storage
import System
import TestSupport
import Testing

@testable import Publishing

@Suite struct KeyFileTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  @Test func `a new key is its owner's alone, durable, and read back`() throws {
    let fileSystem = workshop.fileSystem
    let key = try KeyFile.generate(Workshop.origin, at: "/keys/new", fileSystem)
    for name in ["new", "new.head"] {
      #expect(try fileSystem.openDirectory("/keys").status(name).permissions == 0o600)
    }
    let after = workshop.on(fileSystem.crash(survivors: .nothingUnsynced))
    #expect(try after.key("new") == key)
    #expect(key.origin == Workshop.origin)
    // And with it that it has signed nothing.
    let head = try #require(after.bytes("/keys/new.head"))
    #expect(try Checkpoint(SignedNote(head).verify([key])).size == 0)
  }

  @Test func `a key is never written over anything`() throws {
    // Nor beside the record of a key that is gone.
    try workshop.remove("/keys/second")
    let before = try workshop.files()
    for name in ["first", "second"] {
      #expect(
        category { () throws(FetchFailure) in
          _ = try KeyFile.generate(Workshop.origin, at: "/keys/\(name)", workshop.fileSystem)
        } == .usage)
    }
    #expect(try workshop.files() == before)
  }

  @Test(arguments: [MemoryFileSystem.Operation.Kind.write, .syncFile, .rename, .syncDirectory])
  func `a disk that fails leaves nothing of a new key`(
    _ kind: MemoryFileSystem.Operation.Kind
  ) throws {
    for count in [0, 1] where kind != .rename || count == 0 {
      let start = workshop.on(workshop.fileSystem.copy())
      let before = try start.files()
      let left = start.failOnce(kind, after: count)
      #expect(
        category { () throws(FetchFailure) in
          _ = try KeyFile.generate(Workshop.origin, at: "/keys/new", start.fileSystem)
        } == .noSpace)
      start.fileSystem.onOperation = nil
      #expect(try start.files() == before)
      _ = try KeyFile.generate(Workshop.origin, at: "/keys/new", start.fileSystem)
    }
  }

  @Test func `no two keys are alike`() throws {
    #expect(try workshop.key("first") != workshop.key("second"))
  }

  @Test func `white space around a key is tolerated and anything else is not`() throws {
    let text = try #require(workshop.bytes("/keys/first"))
    try workshop.put("/keys/spaced", Array(" \n".utf8) + text + Array("\r\n\n".utf8))
    #expect(try workshop.key("spaced") == workshop.key("first"))
    for bad in [
      text + text, [UInt8(ascii: "x"), UInt8(ascii: " ")] + text, Array(text.dropLast(3)),
    ] {
      try workshop.put("/keys/bad", bad)
      #expect(
        category { () throws(FetchFailure) in
          _ = try KeyFile("/keys/bad", workshop.fileSystem)
        } == .usage)
    }
  }

  @Test func `a refusal never repeats what is in the file`() throws {
    let secret = try #require(workshop.bytes("/keys/first"))
    try workshop.put("/keys/bad", secret + secret)
    let refusal = failure { () throws(FetchFailure) in
      _ = try KeyFile("/keys/bad", workshop.fileSystem)
    }
    #expect(refusal?.message.contains("PRIVATE") == false)
  }

  @Test func `a head is durable when it was written, also if it was the same before`() throws {
    let head = KeyHead(path: "/keys/made.head")
    #expect(try head.read(workshop.fileSystem) == nil)
    try head.write([1, 2], workshop.fileSystem)
    #expect(try head.read(workshop.fileSystem) == [1, 2])
    // A run that was killed before its last sync.
    let killed = workshop.fileSystem.copy()
    killed.failNext(.syncDirectory, EIO)
    #expect(category { () throws(FetchFailure) in try head.write([3], killed) } == .ioError)
    let next = killed.restart()
    #expect(try head.read(next) == [3])
    try head.write([3], next)
    #expect(try head.read(next.crash(survivors: .nothingUnsynced)) == [3])
  }
}
