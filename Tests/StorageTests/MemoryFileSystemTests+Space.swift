import Glibc
import Storage
import TestSupport
import Testing

/// What a full disk refuses, and what gives space back.
extension MemoryFileSystemTests {
  @Test func `a write that does not fit writes what fits`() throws {
    let file = try root.openFile("a", .createNew(permissions: 0o600))
    fileSystem.freeBytes = 2 * 4_096
    expectFailure(ENOSPC) { try file.writeAll([UInt8](repeating: 7, count: 10_000), at: 100) }
    #expect(try file.status().size == 2 * 4_096)
    #expect(try root.freeBytes() == 0)
    // What has its place already can be written over.
    try file.writeAll([8], at: 4_096)
    expectFailure(ENOSPC) { try file.writeAll([8], at: 8_192) }
    fileSystem.freeBytes = 4_096
    try file.writeAll([8], at: 8_192)
  }

  @Test func `space comes back with holes, cuts and the last trace of a file`() throws {
    let start = fileSystem.freeBytes
    try root.put("a", "")
    var file: (any File)? = try root.openFile("a", .readWrite)
    try file?.writeAll([UInt8](repeating: 7, count: 4 * 4_096))
    #expect(fileSystem.freeBytes == start - 4 * 4_096)
    try file?.punchHole(0..<4_097)
    #expect(fileSystem.freeBytes == start - 3 * 4_096)
    try file?.truncate(to: 2 * 4_096 + 1)
    #expect(fileSystem.freeBytes == start - 2 * 4_096)
    try root.link("a", to: root, "b")
    try root.remove("a")
    try root.remove("b")
    #expect(fileSystem.freeBytes == start - 2 * 4_096)
    file = nil
    #expect(fileSystem.freeBytes == start)
  }

  @Test func `a file that was replaced gives its space back`() throws {
    let start = fileSystem.freeBytes
    try root.put("a", "content")
    try root.put("b", "content")
    try root.rename("b", to: root, "a")
    #expect(fileSystem.freeBytes == start - 4_096)
  }

  @Test func `space that was set aside is there when all else is full`() throws {
    let file = try root.openFile("a", .createNew(permissions: 0o600))
    fileSystem.freeBytes = 4 * 4_096
    try file.allocate(0..<(3 * 4_096))
    #expect(fileSystem.freeBytes == 4_096)
    expectFailure(ENOSPC) { try file.allocate(0..<(5 * 4_096)) }
    try file.allocate(0..<(3 * 4_096))
    #expect(fileSystem.freeBytes == 4_096)
    fileSystem.freeBytes = 0
    try file.writeAll([UInt8](repeating: 7, count: 3 * 4_096))
    expectFailure(ENOSPC) { try file.writeAll([7], at: 3 * 4_096) }
    #expect(try file.status().size == 3 * 4_096)
  }

  @Test func `a replacement on a full disk fails and leaves the old file and the space`() throws {
    try putDurably("a", "old")
    fileSystem.freeBytes = 4_096
    expectFailure(ENOSPC) { try root.replaceFile("a", [UInt8](repeating: 7, count: 5_000)) }
    #expect(try root.text("a") == "old")
    #expect(try root.entries() == ["a"])
    #expect(fileSystem.freeBytes == 4_096)
  }

  @Test func `a power cut frees what it takes`() throws {
    let start = fileSystem.freeBytes
    try putDurably("a", "content")
    try root.put("b", "content")
    #expect(fileSystem.freeBytes == start - 2 * 4_096)
    #expect(fileSystem.crash(survivors: .nothingUnsynced).freeBytes == start - 4_096)
    #expect(fileSystem.crash(survivors: .everything).freeBytes == start - 2 * 4_096)
  }

  @Test func `clones are shared or refused as the test wants it`() throws {
    try root.put("a", "content")
    let source = try root.openFile("a", .read)
    let file = try root.openFile("b", .createNew(permissions: 0o600))
    fileSystem.supportsClone = false
    expectFailure(EOPNOTSUPP) { try file.clone(from: source) }
    fileSystem.supportsClone = true
    try file.clone(from: source)
    #expect(try file.text() == "content")
  }

  @Test func `a clone into a longer file keeps its tail, or is refused where a block has both`()
    throws
  {
    let page = [UInt8](repeating: 1, count: 4_096)
    try root.replaceFile("odd", [1])
    try root.replaceFile("even", page)
    try root.replaceFile("a", [UInt8](repeating: 2, count: 5_000))
    let file = try root.openFile("a", .readWrite)
    expectFailure(EINVAL) { try file.clone(from: root.openFile("odd", .read)) }
    try file.clone(from: root.openFile("even", .read))
    #expect(try root.readFile("a", limit: 9_999) == page + [UInt8](repeating: 2, count: 904))
  }
}
