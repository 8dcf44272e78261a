import Failure
import Glibc
import Manifest
import SignedNote
import Storage
import System
import TestSupport
import Testing

@testable import Download

@Suite struct ResourceDirectoryTests {
  private let made = MadeResource.standard
  private let fileSystem = MemoryFileSystem()

  private func directory() throws -> ResourceDirectory {
    try #require(try ResourceDirectory("/data", fileSystem))
  }

  private func pulled(_ releases: Int = 1) throws -> (ResourceDirectory, [MadeResource]) {
    var all: [MadeResource] = []
    for release in 0..<releases {
      let one = try MadeResource("\(release + 1).0", release: Int64(release), seed: UInt64(release))
      try DiskPull(fileSystem: fileSystem).run(one)
      all.append(one)
    }
    return (try directory(), all)
  }

  // MARK: Versions

  @Test func `nothing is there before anything is made`() throws {
    #expect(try ResourceDirectory("/data", fileSystem) == nil)
    try fileSystem.makeDirectories("/data", permissions: 0o777)
    let directory = try directory()
    #expect(try directory.origin() == nil)
    #expect(directory.available == nil)
    #expect(directory.completedVersions().isEmpty)
    #expect(directory.unfinished().isEmpty)
    #expect(directory.partialNames() == [])
  }

  @Test func `the version that is current is available, else the valid one of the highest release`()
    throws
  {
    let (directory, all) = try pulled(3)
    #expect(directory.available?.manifest == all[2].manifest)
    try directory.setCurrent("1.0")
    #expect(directory.available?.manifest == all[0].manifest)
    // Its marker goes: current names nothing that counts.
    try directory.directory.openDirectory("1.0").remove("complete")
    #expect(directory.current == nil)
    #expect(directory.available?.manifest == all[2].manifest)
    try directory.directory.remove("current")
    #expect(directory.completedVersions().map(\.manifest.version) == ["3.0", "2.0"])
    #expect(directory.available?.manifest == all[2].manifest)
  }

  @Test func `current is replaced in one durable step`() throws {
    _ = try pulled(2)
    try directory().setCurrent("1.0")
    var search = PowerCutSearch(seeds: 4)
    try search.run(from: fileSystem) { fileSystem in
      try ResourceDirectory("/data", fileSystem)!.setCurrent("2.0")
    } examine: { fileSystem, end in
      let version = try ResourceDirectory("/data", fileSystem)?.current?.manifest.version
      #expect(version == "2.0" || !end.isComplete && version == "1.0", "\(end)")
    }
    #expect(search.points >= 4)
  }

  @Test(arguments: [EOPNOTSUPP, ENOSYS, EPERM, EACCES])
  func `where there are no symbolic links, current is a text file`(_ code: Int32) throws {
    let (directory, _) = try pulled(2)
    fileSystem.onOperation = { operation throws(SystemError) in
      if operation.kind == .makeSymbolicLink { throw SystemError(code, "symlinkat") }
    }
    try directory.setCurrent("1.0")
    #expect(try directory.directory.status("current").kind == .regular)
    #expect(try directory.directory.readFile("current", limit: 100) == Array("1.0\n".utf8))
    #expect(directory.current?.manifest.version == "1.0")
    // And a link again where there are.
    fileSystem.onOperation = nil
    try directory.setCurrent("2.0")
    #expect(try directory.directory.readSymbolicLink("current") == "2.0")
  }

  @Test(arguments: ["../../etc", "/etc/passwd", "", "1.0\n2.0", ".fetchres", "9.9"])
  func `a current that names no complete version names nothing`(_ text: String) throws {
    let (directory, all) = try pulled(2)
    try directory.directory.replaceFile("current", Array(text.utf8))
    #expect(directory.current == nil)
    if !text.isEmpty {
      try directory.directory.remove("current")
      try directory.directory.makeSymbolicLink("current", to: text)
      #expect(directory.current == nil)
    }
    #expect(directory.available?.manifest == all[1].manifest)
  }

  @Test func `a directory in the place of current is refused and stays`() throws {
    let (directory, _) = try pulled(1)
    try directory.directory.remove("current")
    try directory.directory.makeDirectory("current", permissions: 0o700)
    #expect(directory.current == nil)
    #expect(
      category { () throws(FetchFailure) in try directory.setCurrent("1.0") } == .ioError)
    #expect(try directory.directory.status("current").kind == .directory)
  }

  @Test func `a version is removed whole, and the rest of a removal by the next`() throws {
    let (_, all) = try pulled(2)
    var search = PowerCutSearch(seeds: 4)
    try search.run(from: fileSystem) { fileSystem in
      let directory = try #require(try ResourceDirectory("/data", fileSystem))
      let version = try #require(CompletedVersion("1.0", in: directory.directory))
      try directory.remove(version, try directory.lock())
    } examine: { fileSystem, end in
      let directory = try #require(try ResourceDirectory("/data", fileSystem))
      #expect(directory.available?.manifest == all[1].manifest, "\(end)")
      defer {
        _ = try? directory.clean(try directory.lock(), oldVersions: true) { _ in }
        #expect(CompletedVersion("1.0", in: directory.directory) == nil)
        let names = ["/data", "/data/.fetchres"].flatMap {
          (try? fileSystem.openDirectory($0).entries()) ?? []
        }
        #expect(!names.contains("1.0") && !names.contains("removed"), "\(end)")
      }
      guard let version = CompletedVersion("1.0", in: directory.directory) else { return }
      #expect(!end.isComplete)
      let file = try fileSystem.openFile("/data/1.0/world.map")
      #expect(try file.readAll("world.map", limit: 1 << 20) == all[0].content, "\(end)")
      #expect(version.manifest == all[0].manifest)
    }
    #expect(search.points > 4)
  }

  @Test func `a file in the place of a version is never lost while it is taken back`() throws {
    _ = try ResourceDirectory.make("/data", fileSystem).lock()
    try fileSystem.makeDirectories("/data/1.0", permissions: 0o777)
    try fileSystem.openDirectory("/data/1.0").replaceFile("world.map", made.content)
    try fileSystem.openDirectory("/data").sync()
    let work = "/data/.fetchres/partial/\(PartialResource.name(of: made.manifest))"
    var search = PowerCutSearch(seeds: 8)
    try search.run(from: fileSystem) { fileSystem in
      let directory = try #require(try ResourceDirectory("/data", fileSystem))
      try directory.takeBack(made.manifest, try directory.lock())
    } examine: { fileSystem, end in
      let content = [("/data/1.0", "world.map"), (work, PartialResource.blocksName)].compactMap {
        try? fileSystem.openDirectory($0).readFile($1, limit: 1 << 20)
      }
      #expect(content.contains(made.content), "\(end)")
    }
    #expect(search.points > 6)
  }

  // MARK: Names in the way

  @Test(arguments: ["manifest", "blocks", "journal", "tiles", "ready"])
  func `a symbolic link in the place of our own is never followed`(_ name: String) throws {
    try fileSystem.makeDirectories("/outside", permissions: 0o700)
    let outside = try fileSystem.openDirectory("/outside")
    try outside.replaceFile("file", Array("untouched".utf8))
    let directory = try ResourceDirectory.make("/data", fileSystem)
    do {
      let lock = try directory.lock()
      _ = try directory.openUnfinished(made.manifest, note: made.note, lock)
    }
    let work = try fileSystem.openDirectory(
      "/data/.fetchres/partial/\(PartialResource.name(of: made.manifest))")
    try work.removeTree(name)
    try work.makeSymbolicLink(
      name, to: "/outside" + (name == "tiles" || name == "ready" ? "" : "/file"))
    // It is refused, or replaced where it is a name that we replace.
    do {
      try DiskPull(fileSystem: fileSystem).run(made)
      #expect(name == "manifest" || name == "ready")
      #expect(try DiskPull(fileSystem: fileSystem).available()?.bytes == made.content)
    } catch let refusal as FetchFailure {
      #expect(refusal.exitCode == 6)
      #expect(try DiskPull(fileSystem: fileSystem).available() == nil)
    }
    #expect(try outside.entries() == ["file"])
    #expect(try outside.readFile("file", limit: 100) == Array("untouched".utf8))
  }

  @Test func `a symbolic link in the place of the private directory is refused`() throws {
    try fileSystem.makeDirectories("/outside", permissions: 0o700)
    try fileSystem.makeDirectories("/data", permissions: 0o777)
    try fileSystem.openDirectory("/data").makeSymbolicLink(".fetchres", to: "/outside")
    #expect(
      category { () throws(FetchFailure) in
        _ = try ResourceDirectory("/data", fileSystem)?.lock()
      } == .ioError)
    #expect(try fileSystem.openDirectory("/outside").entries() == [])
  }

  @Test func `what is no version of ours is neither taken back nor touched`() throws {
    let directory = try ResourceDirectory.make("/data", fileSystem)
    for kind in ["file", "link", "foreign"] {
      let version = directory.directory
      switch kind {
      case "file": try version.replaceFile("1.0", [1])
      case "link": try version.makeSymbolicLink("1.0", to: "/")
      default:
        try version.makeDirectory("1.0", permissions: 0o755)
        try version.openDirectory("1.0").replaceFile("notes.txt", [1])
      }
      let lock = try directory.lock()
      let refusal = failure { () throws(FetchFailure) in
        try directory.takeBack(made.manifest, lock)
      }
      #expect(refusal?.exitCode == 6, "\(kind)")
      #expect(refusal?.message.contains("1.0") == true)
      if kind == "foreign" {
        #expect(try version.openDirectory("1.0").readFile("notes.txt", limit: 10) == [1])
      } else {
        #expect(try version.status("1.0").kind != .directory)
      }
      try version.removeTree("1.0")
    }
  }

  @Test func `an incomplete version is taken back with every block it has`() throws {
    let (directory, all) = try pulled(1)
    try directory.directory.openDirectory("1.0").remove("complete")
    let fetched = try DiskPull(fileSystem: fileSystem.restart()).run(all[0])
    #expect(fetched.runs == [] || fetched.runs == [1..<2])
  }

  // MARK: Owner and lock

  @Test func `a directory keeps the origin that claimed it first`() throws {
    let directory = try ResourceDirectory.make("/data", fileSystem)
    let lock = try directory.lock()
    try directory.claim(made.manifest.origin, lock)
    // Somebody may have looked before it was claimed, and come here afterwards.
    try directory.claim(made.manifest.origin, lock)
    let other = try #require(Origin("maps.example.com/other"))
    let failure = #expect(throws: FetchFailure.self) { try directory.claim(other, lock) }
    #expect(failure?.category == .usage)
    #expect(try directory.origin() == made.manifest.origin)
    let after = try #require(
      try ResourceDirectory("/data", fileSystem.crash(survivors: .nothingUnsynced)))
    #expect(try after.origin() == made.manifest.origin)
  }

  @Test(arguments: ["", "\n", "Not An Origin\n", "maps.example.com/world", "a\nb\n"])
  func `an origin that cannot be read is an error, not none`(_ text: String) throws {
    let directory = try ResourceDirectory.make("/data", fileSystem)
    let lock = try directory.lock()
    try directory.claim(made.manifest.origin, lock)
    try fileSystem.openDirectory("/data/.fetchres").replaceFile("origin", Array(text.utf8))
    #expect(category { () throws(FetchFailure) in _ = try directory.origin() } == .ioError)
  }

  @Test func `a second run is told who holds the lock`() throws {
    let directory = try ResourceDirectory.make("/data", fileSystem)
    var lock: DirectoryLock? = try directory.lock()
    let refusal = failure { () throws(FetchFailure) in _ = try directory.lock() }
    #expect(refusal?.category == .locked)
    #expect(refusal?.exitCode == 7)
    #expect(refusal?.message.contains("process \(ThisProcess.identifier)") == true)
    #expect(lock != nil)
    lock = nil
    _ = try directory.lock()
  }

  @Test func `too little space is said with both figures, before anything is written`() throws {
    let directory = try ResourceDirectory.make("/data", fileSystem)
    fileSystem.freeBytes = 100 << 20
    try directory.checkSpace(84 << 20)
    let refusal = failure { () throws(FetchFailure) in
      try directory.checkSpace((84 << 20) + 1)
    }
    #expect(refusal?.category == .noSpace)
    #expect(refusal?.exitCode == 6)
    #expect(refusal?.message.contains("\(100 << 20)") == true)
    #expect(refusal?.message.contains("\((100 << 20) + 1)") == true)
  }
}
