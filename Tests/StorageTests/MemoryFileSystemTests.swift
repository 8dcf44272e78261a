import Glibc
import Storage
import System
import TestSupport
import Testing

/// What a power cut leaves of content and names, synced and not. The extensions have the rest of the
/// double: control, space, and the search that it is made for.
@Suite struct MemoryFileSystemTests {
  let fileSystem = MemoryFileSystem()
  let root: any Directory

  init() throws { root = try fileSystem.openDirectory("/") }

  /// A file whose name and content are durable.
  func putDurably(_ name: String, _ text: String, in directory: (any Directory)? = nil) throws {
    let directory = directory ?? root
    try directory.put(name, text)
    try directory.openFile(name, .read).sync()
    try directory.sync()
  }

  func makeDurably(_ name: String) throws -> any Directory {
    let directory = try root.openOrMakeDirectory(name, permissions: 0o700)
    try root.sync()
    return directory
  }

  /// The root after a power cut.
  func root(_ survivors: MemoryFileSystem.Survivors) throws -> any Directory {
    try fileSystem.crash(survivors: survivors).openDirectory("/")
  }

  /// Every outcome of a power cut now: nothing, everything, each effect alone lost, random ones.
  func outcomes(seeds: Range<UInt64> = 0..<64) throws -> [any Directory] {
    try fileSystem.outcomes(seeds: seeds).map { try root($0) }
  }

  // MARK: Content

  @Test func `without any sync, a new file is gone or there`() throws {
    try root.put("a", "content")
    #expect(try root(.nothingUnsynced).entries() == [])
    #expect(try root(.everything).text("a") == "content")
  }

  @Test func `syncing a new file does not keep its name`() throws {
    try root.put("a", "content")
    try root.openFile("a", .read).sync()
    #expect(try root(.nothingUnsynced).entries() == [])
  }

  @Test func `syncing the directory keeps the name and no content`() throws {
    try root.put("a", "content")
    try root.sync()
    #expect(try root(.nothingUnsynced).readFile("a", limit: 100) == [])
    #expect(try root(.everything).text("a") == "content")
  }

  @Test func `with both syncs, nothing is at stake`() throws {
    try putDurably("a", "content")
    #expect(fileSystem.unsyncedEffects == [])
    for directory in try outcomes() { #expect(try directory.text("a") == "content") }
  }

  @Test func `an overwrite that is not synced may be lost, and once synced is not`() throws {
    try putDurably("a", "old")
    let file = try root.openFile("a", .readWrite)
    try file.writeAll(Array("NEW!".utf8))
    #expect(try root(.nothingUnsynced).text("a") == "old")
    #expect(try root(.everything).text("a") == "NEW!")
  }

  @Test(arguments: [false, true])
  func `data and size are durable after either kind of sync`(_ dataOnly: Bool) throws {
    try putDurably("a", "old")
    let file = try root.openFile("a", .readWrite)
    try file.writeAll(Array("longer".utf8))
    dataOnly ? try file.syncData() : try file.sync()
    #expect(try root(.nothingUnsynced).text("a") == "longer")
  }

  @Test func `attributes are durable after a full sync alone`() throws {
    try putDurably("a", "content")
    let file = try root.openFile("a", .readWrite)
    try file.setPermissions(0o755)
    try file.setModified(seconds: 1_234_567_890)
    try file.syncData()
    #expect(fileSystem.unsyncedEffects.count == 2)
    try file.sync()
    let status = try root(.nothingUnsynced).status("a")
    #expect(status.permissions == 0o755)
    #expect(status.modified.seconds == 1_234_567_890)
  }

  @Test func `a data sync leaves the attributes at stake`() throws {
    try putDurably("a", "content")
    let file = try root.openFile("a", .readWrite)
    try file.setPermissions(0o755)
    try file.setModified(seconds: 1_234_567_890)
    try file.syncData()
    let status = try root(.nothingUnsynced).status("a")
    #expect(status.permissions == 0o600)
    #expect(status.modified.seconds != 1_234_567_890)
    #expect(try root(.everything).status("a").permissions == 0o755)
  }

  @Test func `cutting and growing a file is durable after its sync and not before`() throws {
    try putDurably("a", "content")
    let file = try root.openFile("a", .readWrite)
    try file.truncate(to: 3)
    #expect(try root(.nothingUnsynced).text("a") == "content")
    #expect(try root(.everything).text("a") == "con")
  }

  @Test func `a file that was cut and synced stays cut`() throws {
    try putDurably("a", "content")
    let file = try root.openFile("a", .readWrite)
    try file.truncate(to: 3)
    try file.syncData()
    try file.truncate(to: 7)
    #expect(try root(.nothingUnsynced).text("a") == "con")
    #expect(try root(.everything).text("a") == "con\0\0\0\0")
  }

  @Test func `a punched hole, a copy and a clone survive like writes`() throws {
    for name in ["a", "b", "c", "d"] {
      try putDurably(name, name == "a" ? "source" : "target")
    }
    let source = try root.openFile("a", .read)
    try root.openFile("b", .readWrite).punchHole(0..<4_096)
    _ = try root.openFile("c", .readWrite).copy(from: source, at: 0, count: 6)
    try root.openFile("d", .readWrite).clone(from: source)
    let none = try root(.nothingUnsynced)
    #expect(try ["b", "c", "d"].map { try none.text($0) } == ["target", "target", "target"])
    let all = try root(.everything)
    #expect(
      try ["b", "c", "d"].map { try all.text($0) } == ["\0\0\0\0\0\0", "source", "source"])
  }

  @Test func `unsynced writes survive in any combination, not in their order alone`() throws {
    try putDurably("a", "")
    let file = try root.openFile("a", .readWrite)
    for offset in 0..<3 { try file.writeAll([UInt8(ascii: "x")], at: Int64(offset)) }
    var seen: Set<String> = []
    for directory in try outcomes(seeds: 0..<300) { seen.insert(try directory.text("a")) }
    #expect(seen.isSuperset(of: ["", "x", "xx", "xxx", "\0x", "\0\0x", "\0xx", "x\0x"]))
  }

  @Test func `one write survives whole, not at all, in part, as zeros, or without some pages`()
    throws
  {
    try putDurably("a", "")
    let content = pattern(count: 3 * 4_096, seed: 1)
    try root.openFile("a", .readWrite).writeAll(content)
    var counts: [String: Int] = [:]
    for seed in 0..<200 {
      let left = try root(.seeded(UInt64(seed))).readFile("a", limit: 1 << 20)
      let kind =
        if left == content {
          "whole"
        } else if left == [] {
          "lost"
        } else if left.count < content.count {
          left == Array(content.prefix(left.count)) ? "prefix" : "wrong"
        } else if left.allSatisfy({ $0 == 0 }) {
          "zeros"
        } else {
          "pages"
        }
      counts[kind, default: 0] += 1
    }
    #expect(Set(counts.keys) == ["whole", "lost", "prefix", "zeros", "pages"])
  }

  @Test func `a sync that failed has dropped the data, and the next one does not bring them back`()
    throws
  {
    try putDurably("a", "old")
    let file = try root.openFile("a", .readWrite)
    try file.writeAll(Array("newer".utf8))
    fileSystem.failNext(.syncFile, EIO)
    expectFailure(EIO) { try file.sync() }
    try file.sync()
    #expect(try file.text() == "newer")
    #expect(try root(.everything).text("a") == "old\0\0")
  }

  @Test func `data that are written again after a failed sync are durable after the next`() throws {
    try putDurably("a", "old")
    let file = try root.openFile("a", .readWrite)
    try file.writeAll(Array("newer".utf8))
    fileSystem.failNext(.syncData, EIO)
    expectFailure(EIO) { try file.syncData() }
    try file.writeAll(Array("newer".utf8))
    try file.syncData()
    #expect(try root(.nothingUnsynced).text("a") == "newer")
  }

  // MARK: Names

  @Test func `a rename is durable after a sync of the directory`() throws {
    try putDurably("a", "content")
    try root.rename("a", to: root, "b")
    #expect(try root(.nothingUnsynced).entries() == ["a"])
    #expect(try root(.everything).entries() == ["b"])
  }

  @Test func `a rename that was synced is not undone`() throws {
    try putDurably("a", "content")
    try root.rename("a", to: root, "b")
    try root.sync()
    for directory in try outcomes() { #expect(try directory.entries() == ["b"]) }
  }

  @Test func `a rename may survive without the data of its file`() throws {
    try putDurably("a", "old")
    try root.put("new", "new content")
    try root.rename("new", to: root, "a")
    let write = try #require(fileSystem.unsyncedEffects.firstIndex { $0.hasPrefix("write") })
    let left = try root(.everythingBut(write))
    #expect(try left.entries() == ["a"])
    #expect(try left.text("a") == "")
  }

  @Test func `a rename over a file leaves the old one or the new one under the name`() throws {
    try putDurably("a", "old")
    try putDurably("b", "new")
    try root.rename("b", to: root, "a")
    var seen: Set<[String]> = []
    for directory in try outcomes() {
      seen.insert(try directory.entries().sorted().map { "\($0) \(try directory.text($0))" })
    }
    #expect(seen == [["a old", "b new"], ["a new"]])
  }

  @Test(arguments: [[], ["from"], ["to"], ["from", "to"]])
  func `a rename between directories is durable once both are synced`(_ synced: [String]) throws {
    let (from, to) = (try makeDurably("from"), try makeDurably("to"))
    try putDurably("a", "content", in: from)
    try from.rename("a", to: to, "b")
    for name in synced { try root.openDirectory(name).sync() }
    var seen: Set<[String]> = []
    for directory in try outcomes() {
      seen.insert(
        try directory.openDirectory("from").entries() + directory.openDirectory("to").entries())
    }
    #expect(seen == (synced.count == 2 ? [["b"]] : [["a"], ["b"]]))
  }

  @Test func `effects on the same name keep their order, those on others do not`() throws {
    try root.put("a", "")
    try root.rename("a", to: root, "b")
    try root.put("c", "")
    try root.rename("b", to: root, "d")
    var seen: Set<[String]> = []
    for directory in try outcomes(seeds: 0..<200) { seen.insert(try directory.entries().sorted()) }
    #expect(seen == [[], ["a"], ["b"], ["d"], ["c"], ["a", "c"], ["b", "c"], ["c", "d"]])
  }

  @Test func `a new directory keeps its name after a sync of the one above`() throws {
    let directory = try root.openOrMakeDirectory("d", permissions: 0o700)
    try putDurably("a", "content", in: directory)
    #expect(try root(.nothingUnsynced).entries() == [])
    #expect(try root(.everything).openDirectory("d").text("a") == "content")
  }

  @Test func `a new directory that is durable may still be empty`() throws {
    let directory = try makeDurably("d")
    try directory.put("a", "content")
    try directory.openFile("a", .read).sync()
    #expect(try root(.nothingUnsynced).openDirectory("d").entries() == [])
  }

  @Test func `directories made with those above them are durable at once`() throws {
    try fileSystem.makeDirectories("/d/e/f", permissions: 0o700)
    #expect(try root(.nothingUnsynced).openDirectory("d").openDirectory("e").entries() == ["f"])
    #expect(fileSystem.unsyncedEffects == [])
  }

  @Test func `what was removed may come back until its directory is synced`() throws {
    try putDurably("a", "content")
    try putDurably("b", "content")
    try root.remove("a")
    try root.sync()
    try root.remove("b")
    #expect(try root(.nothingUnsynced).text("b") == "content")
    #expect(try root(.nothingUnsynced).entries() == ["b"])
    #expect(try root(.everything).entries() == [])
  }

  @Test func `links and symbolic links are durable after a sync of their directory`() throws {
    try putDurably("a", "content")
    try root.link("a", to: root, "b")
    try root.makeSymbolicLink("l", to: "a")
    #expect(try root(.nothingUnsynced).entries() == ["a"])
    let all = try root(.everything)
    #expect(try all.status("a") == all.status("b"))
    #expect(try all.readSymbolicLink("l") == "a")
  }

  @Test func `a synced link is the same file after the cut`() throws {
    try putDurably("a", "content")
    try root.link("a", to: root, "b")
    try root.makeSymbolicLink("l", to: "a")
    try root.sync()
    let none = try root(.nothingUnsynced)
    try none.openFile("a", .readWrite).writeAll(Array("C".utf8))
    #expect(try none.text("b") == "Content")
    #expect(try none.readSymbolicLink("l") == "a")
  }

  @Test func `a removed tree is gone after a sync of the directory that it was in`() throws {
    let directory = try makeDurably("d")
    try putDurably("a", "content", in: directory)
    try root.removeTree("d")
    try root.sync()
    for directory in try outcomes() { #expect(try directory.entries() == []) }
  }

  @Test func `a removed directory is whole, empty or gone until then`() throws {
    let directory = try makeDurably("d")
    try putDurably("a", "content", in: directory)
    let other = try makeDurably("e")
    try root.removeTree("d")
    // Syncing another directory, or the one that is gone, is no help.
    try other.sync()
    try directory.sync()
    var seen: Set<[String]> = []
    for directory in try outcomes() {
      let inner = try? directory.openDirectory("d")
      seen.insert(try directory.entries().sorted() + (inner?.entries() ?? []))
    }
    #expect(seen == [["d", "e", "a"], ["d", "e"], ["e"]])
  }

  @Test func `what moves into a new directory is not lost with it`() throws {
    try putDurably("a", "content")
    let directory = try root.openOrMakeDirectory("d", permissions: 0o700)
    try root.rename("a", to: directory, "b")
    try directory.sync()
    var seen: Set<[String]> = []
    for directory in try outcomes() {
      let inner = try? directory.openDirectory("d")
      seen.insert(try directory.entries().sorted() + (inner?.entries() ?? []))
    }
    #expect(seen == [["a"], ["a", "d"], ["d", "b"]])
    #expect(fileSystem.unsyncedEffects.count == 2)
  }

  @Test func `what moved out of a removed directory is not lost with it`() throws {
    let directory = try makeDurably("d")
    let other = try makeDurably("e")
    try putDurably("a", "content", in: directory)
    try directory.rename("a", to: other, "b")
    try root.removeDirectory("d")
    // The removal waits for the rename, and that for the directory that it went to.
    try root.sync()
    #expect(fileSystem.unsyncedEffects.count == 2)
    for directory in try outcomes() {
      let left = try ["d", "e"].flatMap { name in
        try directory.entries().contains(name) ? directory.openDirectory(name).entries() : []
      }
      #expect(left == ["a"] || left == ["b"])
    }
  }
}
