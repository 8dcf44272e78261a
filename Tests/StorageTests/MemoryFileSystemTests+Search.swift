import Glibc
import Storage
import System
import TestSupport
import Testing

/// The search for what a power cut can break: cuts everywhere, and looks at many outcomes.
extension MemoryFileSystemTests {
  /// Cuts the power at every operation of `body`, and once behind it, with many outcomes; what is
  /// under `a` then.
  private func contents(
    _ body: (any Directory) throws -> Void
  ) throws -> (during: Set<String>, after: Set<String>, states: Int) {
    var (during, states, cut) = (Set<String>(), 0, 0)
    while true {
      cut += 1
      let fileSystem = MemoryFileSystem()
      let root = try fileSystem.openDirectory("/")
      try root.replaceFile("a", Array("old content".utf8))
      let last = fileSystem.operationCount + cut
      fileSystem.onOperation = { [weak fileSystem] operation in
        if operation.number == last { fileSystem?.cutPower() }
      }
      var isComplete = true
      do { try body(root) } catch { isComplete = false }
      var found: Set<String> = []
      for outcome in fileSystem.outcomes(seeds: 0..<32) {
        found.insert(try fileSystem.crash(survivors: outcome).openDirectory("/").text("a"))
        states += 1
      }
      if isComplete { return (during, found, states) }
      during.formUnion(found)
    }
  }

  @Test func `a durable replacement leaves the old or the new content wherever the power goes`()
    throws
  {
    let (during, after, states) = try contents { root in
      try root.replaceFile("a", Array("new content".utf8), modified: 1)
    }
    #expect(during == ["old content", "new content"])
    #expect(after == ["new content"])
    #expect(states > 150)
  }

  @Test func `a replacement that does not sync its file before the rename is found out`() throws {
    let (during, _, _) = try contents { root in
      try root.put("b", "new content")
      try root.rename("b", to: root, "a")
      try root.openFile("a", .read).sync()
      try root.sync()
    }
    #expect(during.isSuperset(of: ["old content", "", "new content"]))
  }

  @Test func `a replacement that does not sync its directory is found out`() throws {
    let (during, after, _) = try contents { root in
      try root.put("b", "new content")
      try root.openFile("b", .read).sync()
      try root.rename("b", to: root, "a")
    }
    #expect(during == ["old content"])
    #expect(after == ["old content", "new content"])
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `no combination of survivors loses or doubles what was only moved`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let names = Set((0..<6).map { "file \($0)" })
    for name in names { try putDurably(name, name) }
    for step in 0..<30 {
      let paths = try tree(root).directories.sorted()
      let path = paths.randomElement(using: &random)!
      let directory = try fileSystem.openDirectory(path)
      let target = try fileSystem.openDirectory(paths.randomElement(using: &random)!)
      let name = try directory.entries().sorted().randomElement(using: &random)
      do throws(SystemError) {
        switch random.next() % 8 {
        case 0, 1: try directory.makeDirectory("d\(step)", permissions: 0o700)
        case 2: if let name { try directory.removeDirectory(name) }
        case 3: try directory.sync()
        default: if let name { try directory.rename(name, to: target, "n\(step)") }
        }
      } catch {
        // A file is no directory, a directory is not empty or does not go below itself.
        #expect([ENOTDIR, ENOTEMPTY, EINVAL].contains(error.code))
      }
    }
    for directory in try outcomes() {
      let contents = try tree(directory).contents
      #expect(contents.count == names.count)
      #expect(Set(contents) == names)
    }
  }

  /// The paths of all directories, and what the files hold.
  private func tree(
    _ directory: any Directory, _ path: String = "/"
  ) throws -> (directories: [String], contents: [String]) {
    var (directories, contents) = ([path], [String]())
    for name in try directory.entries() {
      if try directory.status(name).kind == .directory {
        let below = try tree(directory.openDirectory(name), Path.join(path, name))
        directories += below.directories
        contents += below.contents
      } else {
        contents.append(try directory.text(name))
      }
    }
    return (directories, contents)
  }
}
