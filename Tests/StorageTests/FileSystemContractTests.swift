import Glibc
import Storage
import System
import Testing

/// What the three protocols promise, asked of every implementation. This file: names, opening,
/// paths; the extensions: entries, content, and small files.
@Suite struct FileSystemContractTests {
  static let refusedNames = ["", ".", "..", "/", "a/b", "a/", "/a", "../a", "a\0b"]

  @Test(arguments: Subject.available)
  func `a file that is made is empty, regular and there for all to see`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let file = try directory.openFile("a", .createNew(permissions: 0o640))
      let status = try file.status()
      #expect(status.kind == .regular)
      #expect(status.size == 0)
      #expect(status.permissions == 0o640)
      #expect(try directory.status("a") == status)
      #expect(try directory.entries() == ["a"])
    }
  }

  @Test(arguments: Subject.available)
  func `permissions lose what the umask says`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      _ = try directory.openFile("a", .create(permissions: 0o666))
      try directory.makeDirectory("d", permissions: 0o777)
      let umask = try subject.umask()
      #expect(try directory.status("a").permissions == 0o666 & ~umask)
      #expect(try directory.status("d").permissions == 0o777 & ~umask)
    }
  }

  @Test(arguments: Subject.available)
  func `what is not there is not opened`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      expectFailure(ENOENT) { _ = try directory.openFile("a", .read) }
      expectFailure(ENOENT) { _ = try directory.openFile("a", .readWrite) }
      expectFailure(ENOENT) { _ = try directory.openDirectory("a") }
      expectFailure(ENOENT) { _ = try directory.status("a") }
      expectFailure(ENOENT) { _ = try directory.readSymbolicLink("a") }
      expectFailure(ENOENT) { try directory.remove("a") }
      expectFailure(ENOENT) { try directory.removeDirectory("a") }
      expectFailure(ENOENT) { try directory.rename("a", to: directory, "b") }
      expectFailure(ENOENT) { try directory.link("a", to: directory, "b") }
      let names = try directory.entries()
      #expect(names == [])
    }
  }

  @Test(arguments: Subject.available)
  func `create opens what is there, and createNew does not`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("a", "kept")
      let file = try directory.openFile("a", .create(permissions: 0o600))
      #expect(try file.status().size == 4)
      expectFailure(EEXIST) { _ = try directory.openFile("a", .createNew(permissions: 0o600)) }

      try directory.makeDirectory("d", permissions: 0o700)
      expectFailure(EEXIST) { _ = try directory.openFile("d", .createNew(permissions: 0o600)) }
      try directory.makeSymbolicLink("l", to: "nowhere")
      expectFailure(EEXIST) { _ = try directory.openFile("l", .createNew(permissions: 0o600)) }
      #expect(try directory.text("a") == "kept")
    }
  }

  @Test(arguments: Subject.available)
  func `a directory is not opened for writing, and a file not as a directory`(
    _ subject: Subject
  ) throws {
    try subject.withDirectory { directory in
      try directory.makeDirectory("d", permissions: 0o700)
      expectFailure(EISDIR) { _ = try directory.openFile("d", .readWrite) }
      expectFailure(EISDIR) { _ = try directory.openFile("d", .create(permissions: 0o600)) }
      try directory.put("a", "file")
      expectFailure(ENOTDIR) { _ = try directory.openDirectory("a") }
    }
  }

  @Test(arguments: Subject.available)
  func `a directory opened as a file says what it is and gives no bytes`(
    _ subject: Subject
  ) throws {
    try subject.withDirectory { directory in
      try directory.makeDirectory("d", permissions: 0o700)
      let file = try directory.openFile("d", .read)
      #expect(try file.status().kind == .directory)
      expectFailure(EISDIR) { _ = try file.bytes(at: 0, count: 1) }
    }
  }

  @Test(arguments: Subject.available)
  func `no call follows a symbolic link below an open directory`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      try directory.put("file", "content")
      try directory.makeDirectory("directory", permissions: 0o700)
      try directory.makeSymbolicLink("to-file", to: "file")
      try directory.makeSymbolicLink("to-directory", to: "directory")

      expectFailure(ELOOP) { _ = try directory.openFile("to-file", .read) }
      expectFailure(ELOOP) { _ = try directory.openFile("to-file", .readWrite) }
      expectFailure(ELOOP) { _ = try directory.openFile("to-file", .create(permissions: 0o600)) }
      expectFailure(ELOOP, ENOTDIR) { _ = try directory.openDirectory("to-directory") }
      expectFailure(ENOTDIR) { try directory.removeDirectory("to-directory") }
      #expect(try directory.status("to-file").kind == .symbolicLink)
      #expect(try directory.status("to-directory").kind == .symbolicLink)
    }
  }

  @Test(arguments: Subject.available, refusedNames)
  func `a name that is no single component is refused by every call`(
    _ subject: Subject, _ name: String
  ) throws {
    try subject.withDirectory { directory in
      try directory.put("a", "content")
      try directory.makeDirectory("d", permissions: 0o700)
      expectFailure(EINVAL) { _ = try directory.openFile(name, .read) }
      expectFailure(EINVAL) { _ = try directory.openFile(name, .create(permissions: 0o600)) }
      expectFailure(EINVAL) { _ = try directory.openDirectory(name) }
      expectFailure(EINVAL) { try directory.makeDirectory(name, permissions: 0o700) }
      expectFailure(EINVAL) { _ = try directory.status(name) }
      expectFailure(EINVAL) { try directory.rename(name, to: directory, "b") }
      expectFailure(EINVAL) { try directory.rename("a", to: directory, name) }
      expectFailure(EINVAL) { try directory.link(name, to: directory, "b") }
      expectFailure(EINVAL) { try directory.link("a", to: directory, name) }
      expectFailure(EINVAL) { try directory.makeSymbolicLink(name, to: "a") }
      expectFailure(EINVAL) { _ = try directory.readSymbolicLink(name) }
      expectFailure(EINVAL) { try directory.remove(name) }
      expectFailure(EINVAL) { try directory.removeDirectory(name) }
      expectFailure(EINVAL) { _ = try directory.readFile(name, limit: 10) }
      expectFailure(EINVAL) { try directory.replaceFile(name, [1]) }
      expectFailure(EINVAL) { try directory.removeTree(name) }
      #expect(try directory.entries().sorted() == ["a", "d"])
    }
  }

  @Test(arguments: Subject.available)
  func `a name has at most 255 bytes`(_ subject: Subject) throws {
    try subject.withDirectory { directory in
      let longest = String(repeating: "n", count: 255)
      try directory.put(longest, "x")
      #expect(try directory.entries() == [longest])
      expectFailure(ENAMETOOLONG) { try directory.put(longest + "n", "x") }
    }
  }

  // MARK: Paths as the user wrote them

  @Test(arguments: Subject.available)
  func `paths are followed through symbolic links`(_ subject: Subject) throws {
    try subject.withPath { fileSystem, path, directory in
      try directory.makeDirectory("d", permissions: 0o700)
      try directory.openDirectory("d").put("a", "content")
      try directory.makeSymbolicLink("l", to: "d")
      try directory.makeSymbolicLink("m", to: "\(path)/l/a")

      #expect(try fileSystem.openDirectory("\(path)/l").entries() == ["a"])
      #expect(try fileSystem.openFile("\(path)/m").text() == "content")
      #expect(try fileSystem.openFile("\(path)/l/../d/./a").text() == "content")
    }
  }

  @Test(arguments: Subject.available)
  func `paths that lead nowhere are refused`(_ subject: Subject) throws {
    try subject.withPath { fileSystem, path, directory in
      try directory.put("a", "content")
      try directory.makeSymbolicLink("loop", to: "loop")
      expectFailure(ENOENT) { _ = try fileSystem.openDirectory("\(path)/b") }
      expectFailure(ENOENT) { _ = try fileSystem.openDirectory("") }
      expectFailure(ENOTDIR) { _ = try fileSystem.openDirectory("\(path)/a") }
      expectFailure(ENOTDIR) { _ = try fileSystem.openDirectory("\(path)/a/b") }
      expectFailure(ELOOP) { _ = try fileSystem.openDirectory("\(path)/loop") }
      expectFailure(ENOENT) { _ = try fileSystem.openFile("\(path)/b") }
      expectFailure(ENOTDIR) { _ = try fileSystem.openFile("\(path)/a/") }
    }
  }

  @Test(arguments: Subject.available)
  func `a file opened by path is for reading alone`(_ subject: Subject) throws {
    try subject.withPath { fileSystem, path, directory in
      try directory.put("a", "content")
      let file = try fileSystem.openFile("\(path)/a")
      expectFailure(EBADF) { try file.writeAll([1]) }
      #expect(try directory.text("a") == "content")
    }
  }

  @Test(arguments: Subject.available)
  func `directories are made with those above them, and one that exists is fine`(
    _ subject: Subject
  ) throws {
    try subject.withPath { fileSystem, path, directory in
      for deep in ["d/e/f", "d/e/f", "d//e/g/", "d/./h", "d/new/../i"] {
        try fileSystem.makeDirectories("\(path)/\(deep)", permissions: 0o700)
      }
      let made = try fileSystem.openDirectory("\(path)/d")
      #expect(try made.entries().sorted() == ["e", "h", "i", "new"])
      #expect(try made.openDirectory("e").entries().sorted() == ["f", "g"])
      #expect(try directory.status("d").permissions == 0o700)

      try directory.makeSymbolicLink("l", to: "d")
      try fileSystem.makeDirectories("\(path)/l/j", permissions: 0o700)
      #expect(try made.status("j").kind == .directory)
    }
  }

  @Test(arguments: Subject.available, ["a", "a/d", "nowhere", "nowhere/d"])
  func `no directory is made over or below what is none`(
    _ subject: Subject, _ below: String
  ) throws {
    try subject.withPath { fileSystem, path, directory in
      try directory.put("a", "content")
      try directory.makeSymbolicLink("nowhere", to: "missing")
      expectFailure(ENOTDIR) {
        try fileSystem.makeDirectories("\(path)/\(below)", permissions: 0o700)
      }
      #expect(try directory.entries().sorted() == ["a", "nowhere"])
    }
  }
}
