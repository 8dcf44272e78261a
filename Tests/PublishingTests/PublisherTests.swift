import Crypto
import Failure
import Manifest
import Storage
import System
import TestSupport
import Testing

@testable import Publishing

@Suite struct PublisherTests {
  @Test func `releases follow one another in one log`() throws {
    var workshop = try Workshop()
    for (index, (file, bytes)) in Workshop.files.enumerated() {
      workshop.seconds += 10
      let result = try workshop.publish("v\(index)", file)
      #expect(!result.wasThere)
      #expect(result.manifest.release == Int64(index))
      #expect(result.manifest.file == file)
      #expect(result.manifest.published.seconds == workshop.seconds)
      #expect(workshop.bytes("/site/releases/v\(index)/\(file)") == bytes)
      let view = try ServedSite(workshop).view()
      #expect(view.manifest == result.manifest)
      #expect(view.entries.count == index + 1)
      #expect(workshop.bytes("/keys/first.head") == workshop.bytes("/site/checkpoint"))
    }
  }

  @Test(arguments: [false, true])
  func `a file enters by clone or by copy with the same bytes and tree`(_ clones: Bool) throws {
    let workshop = try Workshop()
    workshop.fileSystem.supportsClone = clones
    let zeros = [UInt8](repeating: 0, count: 3 << 20)
    try workshop.put("/in/sparse", [1] + zeros + [2])
    let result = try workshop.publish("v1", "sparse") { $0.blockSize = 4_096 }
    #expect(workshop.bytes("/site/releases/v1/sparse") == [1] + zeros + [2])
    #expect(result.manifest.layout.count == 769)
    let file = try workshop.fileSystem.openFile("/in/sparse")
    #expect(try TreeOfFile.root(of: file, layout: result.manifest.layout) == result.manifest.root)
    _ = try ServedSite(workshop).view()
  }

  @Test func `a linked file is the same one and may not be written to`() throws {
    let workshop = try Workshop()
    try workshop.publish("v1") { $0.links = true }
    let (input, site) = (
      try workshop.fileSystem.openFile("/in/one").status(),
      try workshop.fileSystem.openFile("/site/releases/v1/one").status()
    )
    #expect(input.inode == site.inode)
    #expect(site.permissions & 0o222 == 0)
    _ = try ServedSite(workshop).view()
  }

  @Test func `a file can have another name in the site`() throws {
    let workshop = try Workshop()
    let manifest = try workshop.publish("v1") { $0.name = "world.map" }.manifest
    #expect(manifest.file == "world.map")
    #expect(workshop.bytes("/site/releases/v1/world.map") == workshop.bytes("/in/one"))
  }

  @Test func `the manifest says what was asked for`() throws {
    let workshop = try Workshop()
    let expires = UTCDate(seconds: workshop.seconds + 1)
    let manifest = try workshop.publish("v1") {
      $0.expires = expires
      $0.mirrors = ["https://cdn.example.com/world/"]
    }.manifest
    #expect(manifest.expires == expires)
    #expect(manifest.mirrors == ["https://cdn.example.com/world/"])
    #expect(manifest.since == 0)
    #expect(try ServedSite(workshop).view().manifest == manifest)
  }

  // MARK: Again

  @Test func `the same content again changes nothing`() throws {
    var workshop = try Workshop()
    let first = try workshop.publish("v1").manifest
    workshop.seconds += 10
    try workshop.publish("v2", "two")
    workshop.seconds += 10
    let before = try workshop.files()
    let again = try workshop.publish("v1") { $0.blockSize = 7 }
    #expect(again.wasThere)
    #expect(again.manifest == first)
    #expect(try workshop.files() == before)
  }

  @Test(arguments: [false, true])
  func `what was pruned comes back with the same content`(_ links: Bool) throws {
    var start = try Workshop()
    try start.publish("v1", "two")
    start.seconds += 10
    try start.publish("v2")
    start.seconds += 10
    let whole = try start.files(below: "/site/releases")
    try start.prune("v1")
    var search = PowerCutSearch(seeds: 1)
    try search.run(from: start.fileSystem) { fileSystem in
      let result = try start.on(fileSystem).publish("v1", "two") { $0.links = links }
      #expect(result.wasThere && result.hasPutBack)
    } examine: { fileSystem, end in
      let workshop = start.on(fileSystem)
      let isThere = workshop.bytes("/site/releases/v1/two") != nil
      #expect(isThere || !end.isComplete, "\(end)")
      // The file says that all of it is there.
      if isThere { #expect(try workshop.verifyLog().pruned.isEmpty, "\(end)") }
      let again = try workshop.publish("v1", "two") { $0.links = links }
      #expect(again.hasPutBack != isThere, "\(end)")
      #expect(try workshop.files(below: "/site/releases") == whole, "\(end)")
      let after = workshop.on(fileSystem.crash(survivors: .nothingUnsynced))
      #expect(try after.files(below: "/site/releases") == whole, "\(end)")
    }
    #expect(search.points > 15)
  }

  @Test func `a tile that is lost comes back with the same content`() throws {
    let workshop = try Workshop()
    try workshop.publish("v1", "two")
    let before = try workshop.files()
    try workshop.remove("/site/releases/v1/tile/0/001")
    #expect(try workshop.publish("v1", "two").hasPutBack)
    #expect(try workshop.files() == before)
    #expect(try !workshop.publish("v1", "two").hasPutBack)
  }

  @Test func `other content under a version that is there is refused`() throws {
    let workshop = try Workshop()
    try workshop.publish("v1")
    try workshop.put("/in/changed", workshop.bytes("/in/one")!.dropLast() + [0xFF])
    try workshop.put("/in/longer", workshop.bytes("/in/one")! + [0])
    let before = try workshop.files()
    let attempts: [(String, String?)] = [
      ("two", nil), ("changed", "one"), ("longer", "one"), ("one", "uno"),
    ]
    for (file, name) in attempts {
      let refusal = failure { () throws(FetchFailure) in
        try workshop.publish("v1", file) { $0.name = name }
      }
      #expect(refusal?.category == .versionReused, "\(file) \(name ?? "")")
      #expect(refusal?.exitCode == 5)
      #expect(try workshop.files() == before)
    }
  }

  @Test func `a version that differs only in case is refused`() throws {
    let workshop = try Workshop()
    try workshop.publish("v1-beta")
    #expect(
      category { () throws(FetchFailure) in try workshop.publish("V1-Beta", "two") } == .usage)
    #expect(try ServedSite(workshop).view().versions == ["v1-beta"])
  }

  // MARK: In the way

  @Test(arguments: ["tile/0/000.p/1", "tile/entries/000.p/1", "tile/0/000.p/2"])
  func `an immutable name with other bytes stops a publish before anything is signed`(
    _ path: String
  ) throws {
    var workshop = try Workshop()
    let isFirst = path.hasSuffix("1")
    if !isFirst {
      try workshop.publish("v1")
      workshop.seconds += 10
    }
    try workshop.put("/site/\(path)", [1, 2, 3])
    let before = try workshop.files(below: "/keys")
    let served = try ServedSite(workshop).files
    let refusal = failure { () throws(FetchFailure) in try workshop.publish("v2", "two") }
    #expect(refusal?.category == .ioError)
    #expect(refusal?.message.contains(path) == true)
    #expect(try workshop.files(below: "/keys") == before)
    #expect(try ServedSite(workshop).files == served)
    // It can be taken out of the way.
    try workshop.remove("/site/\(path)")
    try workshop.publish("v2", "two")
    #expect(try ServedSite(workshop).view().versions == (isFirst ? ["v2"] : ["v1", "v2"]))
  }

  @Test func `a release directory that is no release stops a publish before anything is signed`()
    throws
  {
    let workshop = try Workshop()
    try workshop.put("/site/releases/v1/notes.txt", [1])
    let before = try workshop.files(below: "/keys")
    let refusal = failure { () throws(FetchFailure) in try workshop.publish("v1") }
    #expect(refusal?.category == .usage)
    #expect(refusal?.message.contains("releases/v1") == true)
    #expect(try workshop.files(below: "/keys") == before)
    #expect(workshop.bytes("/site/releases/v1/notes.txt") == [1])
    #expect(workshop.bytes("/site/.publish/transaction") == nil)
    try workshop.publish("v2")
    #expect(try ServedSite(workshop).view().versions == ["v2"])
  }

  @Test func `what an earlier attempt left under its temporary name is replaced`() throws {
    let workshop = try Workshop()
    try workshop.put("/site/releases/.new-v1/garbage", [1])
    try workshop.publish("v1")
    #expect(workshop.bytes("/site/releases/v1/garbage") == nil)
    _ = try ServedSite(workshop).view()
  }

  @Test func `a second publish meanwhile is refused`() throws {
    let workshop = try Workshop()
    let site = try SiteDirectory(Workshop.site, workshop.fileSystem, makes: true)
    let lock = try site.lock()
    let refusal = failure { () throws(FetchFailure) in try workshop.publish("v1") }
    #expect(refusal?.category == .locked)
    #expect(refusal?.exitCode == 7)
    withExtendedLifetime(lock) {}
  }

  @Test func `the lock ends with the publish, refused or not`() throws {
    let workshop = try Workshop()
    _ = failure { () throws(FetchFailure) in try workshop.publish("v1") { $0.mirrors = ["x"] } }
    try workshop.publish("v1")
    #expect(
      category { () throws(FetchFailure) in try workshop.publish("v1", "two") } == .versionReused)
    try workshop.publish("v2", "two")
  }
}
