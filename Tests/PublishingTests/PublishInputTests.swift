import Failure
import Glibc
import Publishing
import SignedNote
import Storage
import System
import TestSupport
import Testing

/// What is refused before anything is touched.
@Suite struct PublishInputTests {
  private func refusal(
    _ version: String = "v1", _ file: String = "one", in workshop: Workshop,
    change: (inout PublishRequest) -> Void = { _ in }
  ) throws -> FetchFailure {
    func files() throws -> [String: [UInt8]] {
      try workshop.files().filter { $0.key != "/site/.publish/lock" }
    }
    let before = try files()
    let refusal = failure { () throws(FetchFailure) in
      try workshop.publish(version, file, change: change)
    }
    #expect(try files() == before)
    return try #require(refusal)
  }

  @Test(arguments: ["", ".", "..", "-v1", ".v1", "a/b", "v 1", "current", "CURRENT", "\u{e9}"])
  func `a version that is none`(_ version: String) throws {
    #expect(try refusal(version, in: try Workshop()).category == .usage)
  }

  @Test(arguments: ["manifest", "complete", "Tile", ".hidden", "a b"])
  func `a file name that is none, with the way out`(_ name: String) throws {
    let workshop = try Workshop()
    try workshop.put("/in/\(name)", [1])
    let refusal = try refusal("v1", name, in: workshop)
    #expect(refusal.category == .usage)
    #expect(refusal.hint?.contains("--as") == true)
    try workshop.publish("v1", name) { $0.name = "data" }
  }

  @Test func `a file that is not there, or is no file`() throws {
    let workshop = try Workshop()
    #expect(try refusal("v1", "none", in: workshop).category == .usage)
    try workshop.fileSystem.openDirectory("/in").makeDirectory("directory", permissions: 0o700)
    #expect(try refusal("v1", "directory", in: workshop).category == .usage)
  }

  @Test func `a symbolic link is followed, and cannot be linked`() throws {
    let workshop = try Workshop()
    try workshop.fileSystem.openDirectory("/in").makeSymbolicLink("link", to: "one")
    #expect(try refusal("v1", "link", in: workshop) { $0.links = true }.category == .usage)
    try workshop.publish("v1", "link")
    #expect(workshop.bytes("/site/releases/v1/link") == workshop.bytes("/in/one"))
  }

  @Test func `key files that are missing, empty, or hold something else`() throws {
    var workshop = try Workshop()
    try workshop.put("/keys/empty", [])
    try workshop.put("/keys/public", Array("\(try workshop.key("first"))\n".utf8))
    try workshop.put("/keys/two", try #require(workshop.bytes("/in/two")))
    for path in ["/keys/none", "/keys/empty", "/keys/public", "/keys/two"] {
      workshop.keys = [path]
      #expect(try refusal(in: workshop).category == .usage, "\(path)")
    }
    workshop.keys = []
    #expect(try refusal(in: workshop).category == .usage)
  }

  @Test func `keys of different origins`() throws {
    var workshop = try Workshop()
    let other = try #require(OtherOrigin.origin)
    _ = try KeyFile.generate(other, at: "/keys/other", workshop.fileSystem)
    workshop.keys.append("/keys/other")
    #expect(try refusal(in: workshop).category == .usage)
  }

  @Test func `a key that is not of the site's origin`() throws {
    var workshop = try Workshop()
    try workshop.publish("v1")
    let other = try #require(OtherOrigin.origin)
    _ = try KeyFile.generate(other, at: "/keys/other", workshop.fileSystem)
    workshop.keys = ["/keys/other"]
    let refusal = try refusal("v2", "two", in: workshop)
    #expect(refusal.category == .originMismatch)
    #expect(refusal.exitCode == 5)
  }

  @Test(arguments: [0, -1, 67_108_865] as [Int64])
  func `a block size that is none`(_ size: Int64) throws {
    #expect(try refusal(in: try Workshop()) { $0.blockSize = size }.category == .usage)
  }

  @Test func `mirrors that are none, and an end before the beginning`() throws {
    let workshop = try Workshop()
    #expect(
      try refusal(in: workshop) { $0.mirrors = ["https://EXAMPLE.com/"] }.category == .usage)
    let now = UTCDate(seconds: workshop.seconds)
    #expect(try refusal(in: workshop) { $0.expires = now }.category == .usage)
  }

  @Test(arguments: [false, true])
  func `an input that changes while it is read`(_ links: Bool) throws {
    let workshop = try Workshop()
    workshop.fileSystem.supportsClone = false
    let file = try workshop.fileSystem.openDirectory("/in").openFile("two", .readWrite)
    let head = try #require(workshop.bytes("/keys/first.head"))
    let done = Monitor(false)
    workshop.fileSystem.onOperation = { operation throws(SystemError) in
      guard operation.path.contains("/tile"),
        !done.look({ (old: inout Bool) in
          defer { old = true }
          return old
        })
      else { return }
      try file.writeAll([0xAB], at: 5)
    }
    let refusal = failure { () throws(FetchFailure) in
      try workshop.publish("v1", "two") { $0.links = links }
    }
    #expect(refusal?.category == .ioError)
    #expect(refusal?.message.contains("changed while it was read") == true)
    #expect(try ServedSite(workshop).files == [:])
    #expect(workshop.bytes("/keys/first.head") == head)
    workshop.fileSystem.onOperation = nil
    try workshop.publish("v1", "two")
    #expect(workshop.bytes("/site/releases/v1/two")?[5] == 0xAB)
  }

  enum Change: CaseIterable { case cloned, copied, linked, replaced }

  @Test(arguments: Change.allCases)
  func `an input that is another than the one that was measured`(_ change: Change) throws {
    let workshop = try Workshop()
    workshop.fileSystem.supportsClone = change == .cloned
    let file = try workshop.fileSystem.openDirectory("/in").openFile("two", .readWrite)
    let other = Workshop.content(600, 9)
    let done = Monitor(false)
    workshop.fileSystem.onOperation = {
      [weak fileSystem = workshop.fileSystem] operation throws(SystemError) in
      guard operation.path.hasSuffix("/.new-v1"),
        !done.look({ (old: inout Bool) in
          defer { old = true }
          return old
        })
      else { return }
      if change == .replaced {
        try fileSystem?.openDirectory("/in").replaceFile("two", other)
      } else {
        try file.writeAll([0xAB], at: 600)
      }
    }
    let refusal = failure { () throws(FetchFailure) in
      try workshop.publish("v1", "two") { $0.links = change == .linked || change == .replaced }
    }
    #expect(done.look { $0 })
    #expect(refusal?.category == .ioError)
    #expect(refusal?.message.contains("changed while it was read") == true)
    #expect(try ServedSite(workshop).files == [:])
    // What was not published stays as it is.
    if change == .replaced {
      #expect(try workshop.fileSystem.openFile("/in/two").status().permissions & 0o200 != 0)
    }
    workshop.fileSystem.onOperation = nil
    try workshop.publish("v1", "two")
    _ = try ServedSite(workshop).view()
  }

  @Test(arguments: [MemoryFileSystem.Operation.Kind.write, .syncFile, .rename, .syncDirectory])
  func `a disk that fails once, and a rerun`(_ kind: MemoryFileSystem.Operation.Kind) throws {
    let start = try Workshop()
    // Each operation of the kind in turn.
    for skipped in 0..<100 {
      let workshop = start.on(start.fileSystem.copy())
      let left = workshop.failOnce(kind, after: skipped)
      let refusal = failure { () throws(FetchFailure) in try workshop.publish("v1") }
      workshop.fileSystem.onOperation = nil
      if left.look({ $0 >= 0 }) {
        #expect(refusal == nil)
        #expect(skipped > 5)
        return
      }
      #expect(refusal == nil || refusal?.exitCode == 6)
      let view = try ServedSite(workshop).view()
      #expect(refusal != nil || view.versions == ["v1"])
      try workshop.publish("v1")
      #expect(try ServedSite(workshop).view().versions == ["v1"])
    }
    Issue.record("a publish has more than 100 operations of a kind")
  }
}

private enum OtherOrigin {
  static let origin = Origin("maps.example.com/other")
}
