import Glibc
import Storage
import System
import TestSupport
import Testing

/// The hook, dead handles, restarts and threads.
extension MemoryFileSystemTests {
  // MARK: Operations

  @Test func `each call that changes or syncs something is announced once, in order`() throws {
    let seen = Recorder()
    fileSystem.onOperation = { operation in seen.add(operation.description) }
    let file = try root.openFile("a", .create(permissions: 0o600))
    _ = try root.openFile("a", .create(permissions: 0o600))
    try file.writeAll([1, 2, 3])
    try file.truncate(to: 2)
    try file.allocate(0..<10)
    try file.punchHole(0..<10)
    try file.setModified(seconds: 1)
    try file.setPermissions(0o644)
    try file.syncData()
    try file.sync()
    let other = try root.openFile("b", .createNew(permissions: 0o600))
    try other.clone(from: file)
    _ = try other.copy(from: file, at: 0, count: 2)
    try root.makeDirectory("d", permissions: 0o700)
    try root.rename("a", to: root.openDirectory("d"), "c")
    try root.link("b", to: root, "e")
    try root.makeSymbolicLink("l", to: "b")
    try root.remove("l")
    try root.sync()
    try root.openDirectory("d").remove("c")
    try root.removeDirectory("d")
    // Looking is no operation.
    _ = try root.entries()
    _ = try root.status("b")
    _ = try other.nextData(from: 0)
    _ = try other.tryLock()
    #expect(
      seen.lines == [
        "1 createFile /a", "2 write /a 0..<3", "3 truncate /a 0..<2", "4 allocate /a 0..<10",
        "5 punchHole /a 0..<10", "6 setModified /a", "7 setPermissions /a", "8 syncData /a",
        "9 syncFile /a", "10 createFile /b", "11 clone /a -> /b", "12 copy /a -> /b 0..<2",
        "13 makeDirectory /d", "14 rename /a -> /d/c", "15 link /b -> /e",
        "16 makeSymbolicLink /l", "17 remove /l", "18 syncDirectory /", "19 remove /d/c",
        "20 removeDirectory /d",
      ])
    #expect(fileSystem.operationCount == 20)
  }

  @Test(arguments: MemoryFileSystem.Operation.Kind.allCases)
  func `an error that the hook throws is what the call throws, and nothing has happened`(
    _ kind: MemoryFileSystem.Operation.Kind
  ) throws {
    try root.put("a", "content")
    try root.put("b", "other")
    try root.makeDirectory("d", permissions: 0o700)
    let (file, other) = (
      try root.openFile("a", .readWrite), try root.openFile("b", .read)
    )
    let before = (try root.entries().sorted(), try file.status(), try file.text())
    fileSystem.failNext(kind, EDQUOT)
    expectFailure(EDQUOT) {
      switch kind {
      case .createFile: try root.put("n", "")
      case .makeDirectory: try root.makeDirectory("n", permissions: 0o700)
      case .makeSymbolicLink: try root.makeSymbolicLink("n", to: "a")
      case .rename: try root.rename("a", to: root, "n")
      case .link: try root.link("a", to: root, "n")
      case .remove: try root.remove("a")
      case .removeDirectory: try root.removeDirectory("d")
      case .syncDirectory: try root.sync()
      case .write: try file.writeAll([1])
      case .truncate: try file.truncate(to: 0)
      case .allocate: try file.allocate(0..<10)
      case .punchHole: try file.punchHole(0..<10)
      case .clone: try file.clone(from: other)
      case .copy: _ = try file.copy(from: other, at: 0, count: 3)
      case .setModified: try file.setModified(seconds: 0)
      case .setPermissions: try file.setPermissions(0)
      case .syncFile: try file.sync()
      case .syncData: try file.syncData()
      }
    }
    #expect(try root.entries().sorted() == before.0)
    #expect(try file.status() == before.1)
    #expect(try file.text() == before.2)
  }

  @Test func `power cut in the hook stops the call that it was called for`() throws {
    try putDurably("a", "content")
    fileSystem.onOperation = { [fileSystem] operation in
      if operation.kind == .rename { fileSystem.cutPower() }
    }
    expectFailure(EIO) { try root.rename("a", to: root, "b") }
    #expect(try root(.everything).entries() == ["a"])
  }

  // MARK: The dead and the living

  @Test func `after a power cut every call on what was open fails`() throws {
    try root.put("a", "content")
    let file = try root.openFile("a", .readWrite)
    let other = try root.openFile("a", .readWrite)
    let after = try root(.everything)
    let calls: [() throws -> Void] = [
      { _ = try fileSystem.openDirectory("/") }, { _ = try fileSystem.openFile("/a") },
      { try fileSystem.makeDirectories("/d", permissions: 0o700) },
      { _ = try root.openFile("a", .read) }, { _ = try root.openDirectory("a") },
      { _ = try root.openFile("n", .create(permissions: 0)) },
      { try root.makeDirectory("d", permissions: 0o700) }, { _ = try root.status("a") },
      { _ = try root.entries() }, { try root.rename("a", to: root, "b") },
      { try root.link("a", to: root, "b") }, { try root.makeSymbolicLink("l", to: "a") },
      { _ = try root.readSymbolicLink("l") }, { try root.remove("a") },
      { try root.removeDirectory("d") }, { try root.sync() }, { _ = try root.freeBytes() },
      { _ = try file.status() }, { _ = try file.bytes(at: 0, count: 1) },
      { try file.writeAll([1]) }, { try file.truncate(to: 0) }, { try file.allocate(0..<1) },
      { try file.punchHole(0..<1) }, { try file.clone(from: other) },
      { _ = try file.copy(from: other, at: 0, count: 1) }, { _ = try file.nextData(from: 0) },
      { try file.sync() }, { try file.syncData() }, { _ = try file.tryLock() },
      { try file.setModified(seconds: 1) }, { try file.setPermissions(0) },
    ]
    for call in calls { expectFailure(EIO) { try call() } }
    #expect(try after.text("a") == "content")
  }

  @Test func `locks go with the power, and the new file is another one`() throws {
    try putDurably("lock", "")
    let file = try root.openFile("lock", .readWrite)
    #expect(try file.tryLock())
    let after = try root(.nothingUnsynced)
    #expect(try after.openFile("lock", .readWrite).tryLock())
  }

  @Test func `one cut can be looked at more than once`() throws {
    try root.put("a", "content")
    fileSystem.cutPower()
    #expect(try root(.nothingUnsynced).entries() == [])
    #expect(try root(.everything).entries() == ["a"])
    // What one of them does is not seen by the next.
    try root(.everything).remove("a")
    #expect(try root(.everything).entries() == ["a"])
  }

  @Test func `the same seed leaves the same`() throws {
    for index in 0..<8 { try root.put("\(index)", "content \(index)") }
    func left(_ seed: UInt64) throws -> [String] {
      let directory = try root(.seeded(seed))
      return try directory.entries().sorted().map { "\($0) \(try directory.text($0))" }
    }
    for seed in 0..<20 as Range<UInt64> { #expect(try left(seed) == left(seed)) }
    #expect(Set(try (0..<20).map { try left($0) }).count > 10)
  }

  @Test func `what survived is durable`() throws {
    try root.put("a", "content")
    let after = fileSystem.crash(survivors: .everything)
    #expect(after.unsyncedEffects == [])
    let again = after.crash(survivors: .nothingUnsynced)
    #expect(try again.openDirectory("/").text("a") == "content")
  }

  @Test func `a killed process leaves everything, locks excepted, and nothing more durable`()
    throws
  {
    try root.put("a", "content")
    let file = try root.openFile("a", .readWrite)
    #expect(try file.tryLock())
    let next = fileSystem.restart()
    expectFailure(EIO) { try file.writeAll([1]) }
    let nextRoot = try next.openDirectory("/")
    #expect(try nextRoot.text("a") == "content")
    #expect(try nextRoot.openFile("a", .read).tryLock())
    #expect(try next.crash(survivors: .nothingUnsynced).openDirectory("/").entries() == [])
  }

  // MARK: Threads

  @Test func `threads that write at once lose nothing`() async throws {
    let count = 4
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<count {
        group.addTask { [root] in
          let file = try root.openFile("shared", .create(permissions: 0o600))
          for index in 0..<50 {
            try file.writeAll([UInt8(worker + 1)], at: Int64(index * count + worker))
            try root.put("\(worker)-\(index)", "x")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try root.entries().count == 50 * count + 1)
    let expected = (0..<(50 * count)).map { UInt8($0 % count + 1) }
    #expect(try root.readFile("shared", limit: 1_000) == expected)
    #expect(fileSystem.operationCount >= 50 * count * 3 + 1)
  }
}

/// Keeps lines in the order in which they came.
private final class Recorder: Sendable {
  private let kept = Monitor<[String]>([])

  var lines: [String] { kept.look { $0 } }

  func add(_ line: String) { kept.look { $0.append(line) } }
}
