import Glibc
import System
import Testing

/// Names on disk that are not what they should be.
@Suite struct PlaceTests {
  /// What a link must never lead out to: a directory with something in it.
  static func outside(_ bench: Workbench) throws -> String {
    let path = bench.scratch("outside")
    try Disk.write("\(path)/precious", [1, 2, 3])
    return path
  }

  static func expectUntouched(
    _ outside: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(Disk.names(in: outside) == ["precious"], sourceLocation: sourceLocation)
    #expect(
      try Disk.read("\(outside)/precious") == [1, 2, 3], sourceLocation: sourceLocation)
  }

  @Test("a pull from another working directory says where the last one went")
  func elsewhere() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(300_000))
    let (here, there) = (bench.scratch("here"), bench.scratch("there"))
    for place in [here, there] { try Disk.makeDirectory(place) }
    let words = ["pull", bench.server.base, "--key", bench.site.key] + bench.server.pullArguments
    let hint = "'-d \(here)/thing'"
    let first = try bench.fetchres.run(words, in: here)
    first.expect(0)
    #expect(!first.error.contains(hint))
    let offline = try bench.fetchres.run(words + ["--offline"], in: there)
    offline.expectRefusal(3, "no complete version is in thing", "\(hint) takes what is there")
    #expect(!Disk.exists("\(there)/thing"))
    // Who says where to knows it.
    for (more, isHinted) in [(["-d", "\(there)/other"], false), ([], true), ([], false)] {
      try bench.fetchres.run(words, in: here).expect(0)
      let outcome = try bench.fetchres.run(words + more, in: there)
      outcome.expect(0)
      #expect(outcome.error.contains("\(hint) it goes on there") == isHinted)
      #expect(outcome.output == "\(more.last ?? "thing")/v1/thing.bin\n")
    }
  }

  enum Place: String, Sendable, CaseIterable {
    case privateDirectory = ".fetchres"
    case partial = ".fetchres/partial"
    case work = ".fetchres/partial/v1-"
    case tiles = ".fetchres/partial/v1-/tiles"
    case version = "v1"
  }

  // covers: F28
  @Test(
    "a symbolic link in place of a directory is refused, and nothing is written behind it",
    arguments: Place.allCases)
  func directoryLink(_ place: Place) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    let outside = try Self.outside(bench)
    let root = try #require(try bench.site.field("root"))
    let path =
      "\(bench.directory)/" + place.rawValue.replacing("v1-", with: "v1-\(root.prefix(16))")
    try Disk.makeDirectory(Path.parent(path))
    try Disk.link(path, to: outside)
    let outcome = try bench.pull("--json")
    outcome.expect(6)
    #expect(try ["io-error", "permission"].contains(outcome.last().category))
    #expect(try bench.origin().count(of: release.dataPath) == 0)
    try Self.expectUntouched(outside)
    #expect(Disk.linkTarget(path) == outside)
  }

  // covers: F28
  @Test(
    "a symbolic link in place of a file is refused or replaced, and never followed",
    arguments: [
      ".fetchres/lock", ".fetchres/origin", "v1-/blocks", "v1-/journal", "v1-/manifest",
      "v1-/tiles/0",
    ])
  func fileLink(_ place: String) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    try bench.interruptPull(release, upTo: 48)
    let outside = try Self.outside(bench)
    let name = bench.pulled.partialNames[0]
    let path =
      "\(bench.directory)/" + place.replacing("v1-", with: ".fetchres/partial/\(name)")
    try Disk.remove(path)
    try Disk.link(path, to: "\(outside)/precious")
    let outcome = try bench.pull("--json")
    if outcome.exitCode == 0 {
      try bench.expectComplete(release)
    } else {
      outcome.expect(6)
      #expect(bench.pulled.markers.isEmpty)
      #expect(Disk.linkTarget(path) != nil)
    }
    try Self.expectUntouched(outside)
  }

  @Test("a symbolic link in place of a complete version's file is not available")
  func completedFileLink() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    try bench.pull().expect(0)
    let file = "\(bench.directory)/v1/thing.bin"
    try Disk.move(file, to: bench.scratch("elsewhere"))
    try Disk.link(file, to: bench.scratch("elsewhere"))
    #expect(try bench.path() == nil)
    let outcome = try bench.pull("--json")
    #expect([0, 6].contains(outcome.exitCode), "\(outcome.testDescription)")
    #expect(areEqual(try Disk.read(bench.scratch("elsewhere")), release.bytes))
  }

  @Test("a file where a directory should be is refused", arguments: ["", "/.fetchres", "/v1"])
  func fileForDirectory(_ place: String) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    let path = bench.directory + place
    try Disk.write(path, [1, 2, 3])
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("io-error", 6)
    #expect(try Disk.read(path) == [1, 2, 3])
    #expect(try bench.origin().count(of: release.dataPath) == 0)
  }

  @Test("the directory itself may be reached through a link: that is how the user wrote it")
  func linkToTheDirectory() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    try Disk.makeDirectory(bench.scratch("real"))
    try Disk.link(bench.directory, to: bench.scratch("real"))
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    #expect(areEqual(try Disk.read(bench.scratch("real/v1/thing.bin")), release.bytes))
  }

  @Test("a current that leads out of the directory is read, never followed")
  func currentOutside() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    try bench.pull().expect(0)
    let elsewhere = bench.scratch("elsewhere")
    try Disk.copy("\(bench.directory)/v1", to: elsewhere)
    try Disk.remove("\(bench.directory)/current")
    try Disk.link("\(bench.directory)/current", to: elsewhere)
    try bench.expectComplete(release)
    try Disk.remove("\(bench.directory)/v1")
    #expect(try bench.path() == nil)
  }

  @Test(
    "a directory that nobody may write to is said to be that",
    .enabled(if: geteuid() != 0, "root may write everywhere"))
  func noPermission() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(300_000))
    try Disk.makeDirectory(bench.directory)
    chmod(bench.directory, 0o500)
    try bench.pull("--json").expectFailure("permission", 6, "hint: check owner and permissions")
  }

  @Test("commands that look say what is missing")
  func nothingThere() throws {
    let bench = try Workbench()
    for command in ["path", "status", "verify", "clean"] {
      try bench.fetchres.run(command, bench.directory).expectRefusal(1, "there is no directory")
    }
    try Disk.makeDirectory(bench.directory)
    try bench.fetchres.run("path", bench.directory).expectRefusal(1, "no complete version")
    try bench.fetchres.run("verify", bench.directory).expectRefusal(1, "no complete version")
    try bench.fetchres.run(["path"], in: bench.directory).expectRefusal(1, "no resource here")
    let status = try bench.fetchres.run("status", bench.directory)
    status.expect(0)
    #expect(status.output.contains("nothing yet"))
    for more in [[], ["--dry-run"]] {
      try bench.fetchres.run(["clean", bench.directory] + more).expect(0)
      #expect(Disk.names(in: bench.directory) == [])
    }
  }

  @Test(
    "a finished version that is no longer what its marker says does not hold",
    arguments: ["thing.bin", "manifest", "complete"])
  func damaged(_ file: String) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000), version: "v1")
    try bench.pull().expect(0)
    try bench.site.publish(randomBytes(1_000), version: "v2")
    try bench.pull().expect(0)
    try bench.fetchres.run("verify", bench.directory).expect(0)
    try Disk.write("\(bench.directory)/v2/\(file)", [1])
    let outcome = try bench.fetchres.run("verify", bench.directory)
    outcome.expect(4)
    #expect(outcome.output.contains("v1/thing.bin: holds"))
    #expect(outcome.error.contains("\(bench.directory)/v2"), "\(outcome.error)")
    try Disk.remove("\(bench.directory)/v1")
    try bench.fetchres.run("verify", bench.directory).expect(4)
  }

  @Test("a pull that finds its version complete makes it current again", arguments: [true, false])
  func currentIsGone(_ isOffline: Bool) throws {
    let (bench, release) = try published()
    try bench.pull().expect(0)
    try Disk.remove("\(bench.directory)/current")
    try bench.fetchres.run(bench.pulling(isOffline ? ["--offline"] : [])).expect(0)
    #expect(bench.pulled.current == release.version)
    // Not one that the URL pins.
    try Disk.remove("\(bench.directory)/current")
    try bench.fetchres.run(
      bench.pulling(isOffline ? ["--offline"] : [], pinned: release.version)
    ).expect(0)
    #expect(bench.pulled.current == nil)
  }

  private func published() throws -> (Workbench, Release) {
    let bench = try Workbench()
    return (bench, try bench.site.publish(randomBytes(1_000), version: "v1"))
  }

  @Test("a directory that a pull began to work in is meant, before the one below it")
  func begun() throws {
    let (bench, _) = try published()
    let work = bench.scratch("work")
    try bench.fetchres.run(Array(bench.pulling().dropLast()) + ["\(work)/a"]).expect(0)
    try bench.fetchres.run(["path"], in: work).expect(0)
    try Disk.makeDirectory("\(work)/.fetchres")
    try bench.fetchres.run(["path"], in: work).expectRefusal(1, "no complete version")
  }

  @Test("two resources in one directory have to be named")
  func several() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let work = bench.scratch("work")
    for name in ["a", "b"] {
      try bench.fetchres.run(Array(bench.pulling().dropLast()) + ["\(work)/\(name)"]).expect(0)
    }
    try bench.fetchres.run(["path"], in: work).expectRefusal(2, "several resources", "a, b")
  }
}
