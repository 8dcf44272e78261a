import Glibc
import Storage
import System
import Testing

/// Bytes, holes, attributes and locks of one file.
extension FileSystemContractTests {
  private static let mebibyte: Int64 = 1 << 20

  @Test(arguments: Subject.available)
  func `reads are short at the end and nowhere else`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      let content = pattern(count: 10_000, seed: 1)
      try file.writeAll(content)
      #expect(try file.status().size == 10_000)
      for (offset, count) in [(0, 10_000), (0, 20_000), (4_090, 12), (9_999, 5), (10_000, 5)] {
        #expect(
          try file.bytes(at: Int64(offset), count: count)
            == Array(content.dropFirst(offset).prefix(count)))
      }
      #expect(try file.bytes(at: 1 << 40, count: 5) == [])
      #expect(try file.bytes(at: 0, count: 0) == [])
      expectFailure(EINVAL) { _ = try file.bytes(at: -1, count: 5) }
    }
  }

  @Test(arguments: Subject.available)
  func `a write past the end leaves zeros in between`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      try file.writeAll([1, 2, 3])
      try file.writeAll([9], at: 9_000)
      #expect(try file.status().size == 9_001)
      let expected = [1, 2, 3] + [UInt8](repeating: 0, count: 8_997) + [9]
      #expect(try file.bytes(at: 0, count: 10_000) == expected)
      // An empty one changes nothing, wherever it is.
      try file.writeAll([], at: 50_000)
      #expect(try file.status().size == 9_001)
    }
  }

  @Test(arguments: Subject.available)
  func `writes go over what is there, across pages`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      var expected = pattern(count: 20_000, seed: 2)
      try file.writeAll(expected)
      for (offset, count) in [(4_095, 2), (4_096, 4_096), (100, 9_000), (19_999, 1)] {
        let piece = pattern(count: count, seed: UInt8(truncatingIfNeeded: offset))
        try file.writeAll(piece, at: Int64(offset))
        expected.replaceSubrange(offset..<(offset + count), with: piece)
      }
      #expect(try file.bytes(at: 0, count: 30_000) == expected)
    }
  }

  @Test(arguments: Subject.available)
  func `writes that no file can hold are refused`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      expectFailure(EINVAL) { try file.writeAll([1], at: -1) }
      expectFailure(EINVAL, EFBIG) { try file.writeAll([1], at: .max) }
      expectFailure(EINVAL) { try file.truncate(to: -1) }
      #expect(try file.status().size == 0)
    }
  }

  @Test(arguments: Subject.available)
  func `a file cut short and grown again reads as zeros behind the cut`(
    _ subject: Subject
  ) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      try file.writeAll([UInt8](repeating: 7, count: 10_000))
      try file.truncate(to: 5_000)
      #expect(try file.status().size == 5_000)
      try file.truncate(to: 10_000)
      #expect(
        try file.bytes(at: 0, count: 10_000)
          == [UInt8](repeating: 7, count: 5_000) + [UInt8](repeating: 0, count: 5_000))
    }
  }

  @Test(arguments: Subject.available)
  func `a file opened for reading does not change`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("a", "content")
      try directory.put("b", "other")
      let file = try directory.openFile("a", .read)
      let other = try directory.openFile("b", .read)
      expectFailure(EBADF) { try file.writeAll([1]) }
      expectFailure(EINVAL) { try file.truncate(to: 0) }
      expectFailure(EBADF) { try file.allocate(0..<4_096) }
      expectFailure(EBADF) { try file.punchHole(0..<4_096) }
      expectFailure(EBADF) { _ = try file.copy(from: other, at: 0, count: 5) }
      expectFailure(EBADF, EOPNOTSUPP) { try file.clone(from: other) }
      // It syncs all the same: who opened it has no say in who wrote it.
      try file.sync()
      try file.syncData()
      #expect(try directory.text("a") == "content")
    }
  }

  @Test(arguments: Subject.available)
  func `five gibibytes of hole are no data`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      let size: Int64 = 5 << 30
      try file.truncate(to: size)
      #expect(try file.nextData(from: 0) == nil)
      try file.writeAll([1], at: 4 << 30)
      let run = try #require(try file.nextData(from: 0))
      #expect(run.lowerBound > (4 << 30) - Self.mebibyte && run.lowerBound <= 4 << 30)
      #expect(run.upperBound > 4 << 30 && run.upperBound < (4 << 30) + Self.mebibyte)
      #expect(try file.nextData(from: run.upperBound) == nil)
      #expect(try file.status().size == size)
      #expect(try file.bytes(at: size - 3, count: 8) == [0, 0, 0])
    }
  }

  @Test(arguments: Subject.available)
  func `runs of data are found from anywhere`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      let m = Self.mebibyte
      let block = pattern(count: Int(m), seed: 3)
      for offset in [m, 4 * m, 5 * m] { try file.writeAll(block, at: offset) }
      #expect(try file.nextData(from: 0) == m..<(2 * m))
      #expect(try file.nextData(from: m + 5) == (m + 5)..<(2 * m))
      #expect(try file.nextData(from: 2 * m) == (4 * m)..<(6 * m))
      #expect(try file.nextData(from: 6 * m) == nil)
      #expect(try file.nextData(from: 60 * m) == nil)
      // Looking does not move where reads and writes go.
      #expect(try file.bytes(at: m, count: 16) == Array(block.prefix(16)))
    }
  }

  @Test(arguments: Subject.available)
  func `a hole that is punched reads as zeros and keeps the size`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      let m = Self.mebibyte
      var expected = pattern(count: Int(3 * m), seed: 4)
      try file.writeAll(expected)
      for hole in [m..<(2 * m), 10..<20, (3 * m - 5)..<(4 * m)] {
        try file.punchHole(hole)
        for index in Int(hole.lowerBound)..<min(Int(hole.upperBound), expected.count) {
          expected[index] = 0
        }
      }
      #expect(try file.status().size == 3 * m)
      #expect(try file.bytes(at: 0, count: Int(3 * m)) == expected)
      #expect(try file.nextData(from: 0) == 0..<m)
      #expect(try file.nextData(from: m)?.lowerBound == 2 * m)
      expectFailure(EINVAL) { try file.punchHole(5..<5) }
      expectFailure(EINVAL) { try file.punchHole(-5..<5) }
    }
  }

  @Test(arguments: Subject.available)
  func `space that is set aside changes neither size nor content`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      try file.writeAll([1, 2, 3])
      try file.allocate(0..<Self.mebibyte)
      #expect(try file.status().size == 3)
      #expect(try file.bytes(at: 0, count: 10) == [1, 2, 3])
      try file.truncate(to: Self.mebibyte)
      #expect(try file.bytes(at: 0, count: 4) == [1, 2, 3, 0])
      #expect(try file.bytes(at: Self.mebibyte - 1, count: 4) == [0])
      expectFailure(EINVAL) { try file.allocate(5..<5) }
      expectFailure(EINVAL) { try file.allocate(-5..<5) }
    }
  }

  @Test(arguments: Subject.available)
  func `a range is copied to the same place, as far as the source goes`(
    _ subject: Subject
  ) throws {
    try subject.withDirectory { directory in
      let content = pattern(count: 3 << 20, seed: 5)
      let source = try directory.openFile("a", .createNew(permissions: 0o600))
      try source.writeAll(content)
      let target = try directory.openFile("b", .createNew(permissions: 0o600))
      // A call may copy less than was asked for, but never nothing before the end.
      var offset: Int64 = 100_000
      while true {
        let count = try target.copy(from: source, at: offset, count: 1 << 30)
        if count == 0 { break }
        offset += count
      }
      #expect(offset == 3 << 20)
      let expected = [UInt8](repeating: 0, count: 100_000) + content.dropFirst(100_000)
      #expect(try target.bytes(at: 0, count: 4 << 20) == expected)

      #expect(try target.copy(from: source, at: 0, count: 10) == 10)
      #expect(try target.bytes(at: 0, count: 12) == content.prefix(10) + [0, 0])
      #expect(try target.copy(from: source, at: 1 << 30, count: 10) == 0)
    }
  }

  @Test(arguments: Subject.available)
  func `a clone has the content of its source and a life of its own, or there is none`(
    _ subject: Subject
  ) throws {
    try subject.withDirectory { directory in
      let content = pattern(count: 10_000, seed: 6)
      let source = try directory.openFile("a", .createNew(permissions: 0o600))
      try source.writeAll(content)
      let target = try directory.openFile("b", .createNew(permissions: 0o600))
      do throws(SystemError) { try target.clone(from: source) } catch {
        #expect(error.code == EOPNOTSUPP)
        #expect(subject.mayLackClones)
        #expect(try target.status().size == 0)
        return
      }
      #expect(try target.bytes(at: 0, count: 20_000) == content)
      try source.writeAll([0, 0, 0])
      try target.writeAll([255], at: 9_999)
      #expect(try target.bytes(at: 0, count: 20_000) == content.dropLast() + [255])
      #expect(try source.bytes(at: 0, count: 20_000) == [0, 0, 0] + content.dropFirst(3))
    }
  }

  @Test(arguments: Subject.available)
  func `open files outlive their names`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      let inode = try file.status().inode
      try directory.rename("a", to: directory, "b")
      try file.writeAll([1])
      #expect(try directory.status("b").inode == inode)
      #expect(try directory.status("b").size == 1)
      try directory.remove("b")
      try directory.put("b", "another")
      try file.writeAll([2], at: 1)
      try file.sync()
      #expect(try file.bytes(at: 0, count: 5) == [1, 2])
      #expect(try directory.text("b") == "another")
    }
  }

  @Test(arguments: Subject.available)
  func `time and permissions are set to the second and to the bit`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o600))
      try file.writeAll([1])
      try file.setModified(seconds: 1_234_567_890)
      try file.setPermissions(0o755)
      try file.sync()
      let status = try directory.status("a")
      #expect(status.modified == FileStatus.Time(seconds: 1_234_567_890, nanoseconds: 0))
      #expect(status.permissions == 0o755)
      try file.writeAll([2])
      #expect(try file.status().modified.seconds > 1_234_567_890)
    }
  }

  @Test(arguments: Subject.available)
  func `one open file at a time has the lock, until it goes`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("lock", "")
      var first: (any File)? = try directory.openFile("lock", .readWrite)
      let second = try directory.openFile("lock", .read)
      #expect(try first?.tryLock() == true)
      #expect(try second.tryLock() == false)
      // Asking again is fine for the one that has it.
      #expect(try first?.tryLock() == true)
      try directory.put("other", "")
      #expect(try directory.openFile("other", .readWrite).tryLock())
      first = nil
      #expect(try second.tryLock())
    }
  }

  @Test(arguments: Subject.available)
  func `the lock is that of the file, not of its name`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("lock", "")
      let first = try directory.openFile("lock", .readWrite)
      #expect(try first.tryLock())
      try directory.link("lock", to: directory, "second name")
      #expect(try directory.openFile("second name", .readWrite).tryLock() == false)
      try directory.remove("lock")
      try directory.put("lock", "")
      #expect(try directory.openFile("lock", .readWrite).tryLock())
      withExtendedLifetime(first) {}
    }
  }
}
