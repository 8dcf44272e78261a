import Glibc
import Storage
import System
import Testing

/// Making, renaming, linking and removing entries.
extension FileSystemContractTests {
  @Test(arguments: Subject.available)
  func `a new directory is empty, and entries lists names alone`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.makeDirectory("d", permissions: 0o750)
      #expect(try directory.status("d").kind == .directory)
      let inner = try directory.openDirectory("d")
      #expect(try inner.entries() == [])
      try inner.put("a", "x")
      try inner.put(".hidden", "x")
      try inner.makeDirectory("e", permissions: 0o700)
      try inner.makeSymbolicLink("l", to: "..")
      #expect(try inner.entries().sorted() == [".hidden", "a", "e", "l"])
      // A second look sees what changed since the first.
      try inner.remove("a")
      #expect(try inner.entries().sorted() == [".hidden", "e", "l"])
    }
  }

  @Test(arguments: Subject.available)
  func `nothing is made where something is`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("file", "content")
      try directory.makeDirectory("directory", permissions: 0o700)
      try directory.makeSymbolicLink("symlink", to: "nowhere")
      for name in ["file", "directory", "symlink"] {
        expectFailure(EEXIST) { try directory.makeDirectory(name, permissions: 0o700) }
        expectFailure(EEXIST) { try directory.makeSymbolicLink(name, to: "x") }
        expectFailure(EEXIST) { try directory.link("file", to: directory, name) }
      }
      #expect(try directory.readSymbolicLink("symlink") == "nowhere")
      #expect(try directory.text("file") == "content")
    }
  }

  @Test(arguments: Subject.available)
  func `a rename over a file replaces it in one step`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("old", "old")
      try directory.put("new", "new")
      let old = try directory.openFile("old", .read)
      let moved = try directory.status("new").inode
      try directory.rename("new", to: directory, "old")
      #expect(try directory.entries() == ["old"])
      #expect(try directory.text("old") == "new")
      #expect(try directory.status("old").inode == moved)
      // Whoever had the old one open still reads it.
      #expect(try old.text() == "old")
    }
  }

  @Test(arguments: Subject.available)
  func `a rename over a symbolic link replaces the link`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("target", "target")
      try directory.makeSymbolicLink("link", to: "target")
      try directory.put("new", "new")
      try directory.rename("new", to: directory, "link")
      #expect(try directory.text("link") == "new")
      #expect(try directory.text("target") == "target")

      try directory.makeSymbolicLink("other", to: "elsewhere")
      try directory.rename("other", to: directory, "link")
      #expect(try directory.readSymbolicLink("link") == "elsewhere")
      #expect(try directory.entries().sorted() == ["link", "target"])
    }
  }

  @Test(arguments: Subject.available)
  func `a directory replaces an empty directory and no other`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      for name in ["d", "empty", "full"] {
        try directory.makeDirectory(name, permissions: 0o700)
      }
      try directory.openDirectory("d").put("mark", "x")
      try directory.openDirectory("full").put("a", "x")

      expectFailure(ENOTEMPTY, EEXIST) { try directory.rename("d", to: directory, "full") }
      #expect(try directory.entries().sorted() == ["d", "empty", "full"])
      try directory.rename("d", to: directory, "empty")
      #expect(try directory.entries().sorted() == ["empty", "full"])
      #expect(try directory.openDirectory("empty").entries() == ["mark"])
    }
  }

  @Test(arguments: Subject.available)
  func `files and directories do not replace each other`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("file", "content")
      try directory.makeDirectory("d", permissions: 0o700)
      expectFailure(EISDIR) { try directory.rename("file", to: directory, "d") }
      expectFailure(ENOTDIR) { try directory.rename("d", to: directory, "file") }
      #expect(try directory.text("file") == "content")
      #expect(try directory.openDirectory("d").entries() == [])
    }
  }

  @Test(arguments: Subject.available)
  func `a rename moves files and trees between directories`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.makeDirectory("d", permissions: 0o700)
      try directory.makeDirectory("e", permissions: 0o700)
      let (from, to) = (try directory.openDirectory("d"), try directory.openDirectory("e"))
      try from.put("a", "content")
      try from.rename("a", to: to, "b")
      #expect(try from.entries() == [])
      #expect(try to.text("b") == "content")

      try directory.rename("e", to: from, "f")
      #expect(try directory.entries() == ["d"])
      #expect(try from.openDirectory("f").text("b") == "content")
      // The open directory went with its name.
      #expect(try to.entries() == ["b"])
    }
  }

  @Test(arguments: Subject.available)
  func `a directory does not go below itself`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.makeDirectory("d", permissions: 0o700)
      let inner = try directory.openDirectory("d")
      try inner.makeDirectory("e", permissions: 0o700)
      expectFailure(EINVAL) { try directory.rename("d", to: inner, "x") }
      expectFailure(EINVAL) {
        try directory.rename("d", to: try inner.openDirectory("e"), "x")
      }
      #expect(try directory.entries() == ["d"])
    }
  }

  @Test(arguments: Subject.available)
  func `a rename to another name of the same file does nothing`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("a", "content")
      try directory.rename("a", to: directory, "a")
      try directory.link("a", to: directory, "b")
      try directory.rename("a", to: directory, "b")
      #expect(try directory.entries().sorted() == ["a", "b"])
    }
  }

  @Test(arguments: Subject.available)
  func `a link is a second name for the same file`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("a", "content")
      try directory.makeDirectory("d", permissions: 0o700)
      let other = try directory.openDirectory("d")
      try directory.link("a", to: other, "b")
      #expect(try other.status("b") == directory.status("a"))
      try other.openFile("b", .readWrite).writeAll(Array("CON".utf8))
      #expect(try directory.text("a") == "CONtent")
      try directory.remove("a")
      #expect(try other.text("b") == "CONtent")
      expectFailure(EPERM) { try directory.link("d", to: directory, "e") }
    }
  }

  @Test(arguments: Subject.available)
  func `a link to a symbolic link is a second symbolic link`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("a", "content")
      try directory.makeSymbolicLink("l", to: "a")
      try directory.link("l", to: directory, "m")
      #expect(try directory.status("m").kind == .symbolicLink)
      #expect(try directory.readSymbolicLink("m") == "a")
    }
  }

  @Test(arguments: Subject.available)
  func `a symbolic link gives its text back and has to have one`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let target = "../" + String(repeating: "ä/", count: 300)
      try directory.makeSymbolicLink("l", to: target)
      #expect(try directory.readSymbolicLink("l") == target)
      #expect(try directory.status("l").size == Int64(target.utf8.count))
      expectFailure(ENOENT) { try directory.makeSymbolicLink("m", to: "") }
      try directory.put("a", "content")
      expectFailure(EINVAL) { _ = try directory.readSymbolicLink("a") }
      try directory.remove("l")
      #expect(try directory.entries() == ["a"])
    }
  }

  @Test(arguments: Subject.available)
  func `remove takes files, removeDirectory takes empty directories`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("a", "content")
      try directory.makeDirectory("d", permissions: 0o700)
      try directory.openDirectory("d").put("b", "content")
      expectFailure(EISDIR) { try directory.remove("d") }
      expectFailure(ENOTDIR) { try directory.removeDirectory("a") }
      expectFailure(ENOTEMPTY) { try directory.removeDirectory("d") }
      try directory.openDirectory("d").remove("b")
      try directory.removeDirectory("d")
      try directory.remove("a")
      #expect(try directory.entries() == [])
    }
  }

  @Test(arguments: Subject.available)
  func `nothing is made in a directory that was removed`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.makeDirectory("d", permissions: 0o700)
      try directory.put("a", "content")
      let gone = try directory.openDirectory("d")
      try directory.removeDirectory("d")
      #expect(try gone.entries() == [])
      expectFailure(ENOENT) { try gone.put("b", "x") }
      expectFailure(ENOENT) { try gone.makeDirectory("e", permissions: 0o700) }
      expectFailure(ENOENT) { try directory.rename("a", to: gone, "b") }
      expectFailure(ENOENT) { try directory.link("a", to: gone, "b") }
      #expect(try directory.entries() == ["a"])
    }
  }

  @Test(arguments: Subject.available)
  func `directories sync, and tell how much space is free`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("a", "content")
      try directory.sync()
      #expect(try directory.freeBytes() > 1 << 20)
    }
  }

  @Test(arguments: [(Subject.memory, Subject.memory), (.temporaryDirectory, .sharedMemory)])
  func `nothing is renamed, linked, cloned or copied to another file system`(
    _ first: Subject, _ second: Subject
  ) throws {
    guard Subject.available.contains(second) else { return }
    try first.withDirectory { here in
      try second.withDirectory { there in
        try here.put("a", "content")
        try there.put("b", "other")
        let (source, target) = (
          try here.openFile("a", .read), try there.openFile("b", .readWrite)
        )
        guard try first == .memory || source.status().device != target.status().device else {
          return
        }
        expectFailure(EXDEV) { try here.rename("a", to: there, "c") }
        expectFailure(EXDEV) { try here.link("a", to: there, "c") }
        expectFailure(EXDEV, EOPNOTSUPP) { try target.clone(from: source) }
        expectFailure(EXDEV) { _ = try target.copy(from: source, at: 0, count: 7) }
        #expect(try here.text("a") == "content")
        #expect(try there.text("b") == "other")
        #expect(try there.entries() == ["b"])
      }
    }
  }
}
