import Glibc
import Storage
import System
import Testing

/// What stands on top of the calls: small files, optional entries, trees.
extension FileSystemContractTests {
  @Test(arguments: Subject.available, [0, 1, 4_095, 4_096, 4_097])
  func `a file is read whole within the limit, and not beyond`(
    _ subject: Subject, _ size: Int
  ) throws {
    try subject.withDirectory { directory in
      let content = pattern(count: size, seed: 7)
      try directory.replaceFile("a", content)
      #expect(try directory.readFile("a", limit: size) == content)
      #expect(try directory.readFile("a", limit: size + 1) == content)
      if size > 0 { expectFailure(EFBIG) { _ = try directory.readFile("a", limit: size - 1) } }
    }
  }

  @Test(arguments: Subject.available)
  func `only regular files are read`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.makeDirectory("d", permissions: 0o700)
      try directory.put("a", "content")
      try directory.makeSymbolicLink("l", to: "a")
      expectFailure(EINVAL) { _ = try directory.readFile("d", limit: 10) }
      expectFailure(ELOOP) { _ = try directory.readFile("l", limit: 10) }
      expectFailure(ENOENT) { _ = try directory.readFile("b", limit: 10) }
    }
  }

  @Test(arguments: Subject.available)
  func `a file is replaced with its time and permissions, and leaves no other`(
    _ subject: Subject
  ) throws {
    try subject.withDirectory { directory in
      try directory.replaceFile("a", Array("old".utf8))
      let reader = try directory.openFile("a", .read)
      try directory.replaceFile(
        "a", Array("newer".utf8), permissions: 0o640, modified: 1_234_567_890)
      #expect(try directory.text("a") == "newer")
      #expect(try reader.text() == "old")
      let status = try directory.status("a")
      #expect(status.permissions == 0o640)
      #expect(status.modified.seconds == 1_234_567_890)
      #expect(try directory.entries() == ["a"])
    }
  }

  @Test(arguments: Subject.available)
  func `what an interrupted replacement left does not matter`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put(".a.new", "half of it, longer than the new one")
      try directory.put("elsewhere", "safe")
      try directory.replaceFile("a", Array("new".utf8))
      #expect(try directory.text("a") == "new")

      try directory.makeSymbolicLink(".a.new", to: "elsewhere")
      try directory.replaceFile("a", Array("newest".utf8))
      #expect(try directory.text("a") == "newest")
      #expect(try directory.text("elsewhere") == "safe")
      #expect(try directory.entries().sorted() == ["a", "elsewhere"])
    }
  }

  @Test(arguments: Subject.available)
  func `a symbolic link is replaced, not followed, and a directory is neither`(
    _ subject: Subject
  ) throws {
    try subject.withDirectory { directory in
      try directory.put("target", "safe")
      try directory.makeSymbolicLink("l", to: "target")
      try directory.replaceFile("l", Array("new".utf8))
      #expect(try directory.text("l") == "new")
      #expect(try directory.text("target") == "safe")

      try directory.makeDirectory("d", permissions: 0o700)
      expectFailure(EISDIR) { try directory.replaceFile("d", [1]) }
      #expect(try directory.status("d").kind == .directory)
      #expect(try directory.entries().sorted() == ["d", "l", "target"])
    }
  }

  @Test(arguments: Subject.available)
  func `what may be missing is asked for without an error`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      #expect(try directory.statusIfPresent("a") == nil)
      #expect(try directory.removeIfPresent("a") == false)
      try directory.put("a", "content")
      #expect(try directory.statusIfPresent("a")?.size == 7)
      #expect(try directory.removeIfPresent("a"))
      #expect(try directory.entries() == [])
      // Other errors are errors.
      try directory.makeDirectory("d", permissions: 0o700)
      expectFailure(EISDIR) { try directory.removeIfPresent("d") }
    }
  }

  @Test(arguments: Subject.available)
  func `a directory is opened, or made first`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.openOrMakeDirectory("d", permissions: 0o700).put("a", "content")
      #expect(try directory.status("d").permissions == 0o700)
      #expect(try directory.openOrMakeDirectory("d", permissions: 0o755).entries() == ["a"])
      #expect(try directory.status("d").permissions == 0o700)
      try directory.put("file", "content")
      expectFailure(ENOTDIR) { _ = try directory.openOrMakeDirectory("file", permissions: 0o700) }
      try directory.makeSymbolicLink("l", to: "d")
      expectFailure(ELOOP, ENOTDIR) {
        _ = try directory.openOrMakeDirectory("l", permissions: 0o700)
      }
    }
  }

  @Test(arguments: Subject.available)
  func `a tree is removed without following its symbolic links`(_ subject: Subject) throws {
    try subject.withPath { fileSystem, path, directory in
      try directory.makeDirectory("safe", permissions: 0o700)
      try directory.openDirectory("safe").put("a", "safe")
      try fileSystem.makeDirectories("\(path)/tree/deep/deeper", permissions: 0o700)
      let tree = try directory.openDirectory("tree")
      try tree.put("file", "content")
      try tree.openDirectory("deep").makeSymbolicLink("out", to: "../../safe")
      try tree.makeSymbolicLink("absolute", to: "\(path)/safe")
      try directory.makeSymbolicLink("link", to: "safe")

      try directory.removeTree("tree")
      #expect(try directory.entries().sorted() == ["link", "safe"])
      try directory.removeTree("link")
      try directory.removeTree("nothing")
      #expect(try directory.entries() == ["safe"])
      #expect(try directory.openDirectory("safe").text("a") == "safe")
    }
  }
}
