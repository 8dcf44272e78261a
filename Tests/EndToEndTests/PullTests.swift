import Foundation
import System
import Testing

/// A pull from beginning to end, from every server that is there.
@Suite struct PullTests {
  /// Around every edge of a block size of 64 KiB.
  static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 131_073, 5_000_000]

  @Test("nginx answers, plain and with TLS", .enabled(if: Nginx.here != nil, Nginx.need))
  func nginxIsThere() throws {
    for server in [Server.nginx, .nginxTLS] {
      let bench = try Workbench(server)
      try bench.site.publish([1, 2, 3])
      try bench.pull().expect(0)
      #expect(try bench.server.count(of: "/manifest") == 1)
    }
  }

  @Test(
    "what was published arrives, whole and marked, whatever its size",
    arguments: Server.available, sizes)
  func arrives(_ server: Server, _ size: Int) throws {
    let bench = try Workbench(server)
    let release = try bench.site.publish(randomBytes(size))
    let pulled = try bench.pull("--json")
    pulled.expect(0)
    let complete = try pulled.last()
    #expect(complete.event == "complete" && complete.fetched == Int64(size))
    #expect(complete.version == "v1" && complete.release == 0 && complete.size == Int64(size))
    #expect(complete.path == "\(bench.directory)/v1/thing.bin")
    try bench.expectComplete(release)
    #expect(bench.pulled.current == "v1")
    #expect(try Disk.read("\(bench.directory)/v1/manifest") == bench.site.manifest())
    #expect(
      try Disk.read("\(bench.directory)/.fetchres/origin") == Array("example.org/thing\n".utf8))

    let verified = try bench.fetchres.run("verify", bench.directory)
    verified.expect(0)
    #expect(verified.line == "\(bench.directory)/v1/thing.bin: holds")

    let status = try bench.status()
    #expect(status.origin == "example.org/thing" && status.current == "v1")
    #expect(status.unfinished.isEmpty && status.complete.count == 1)
    #expect(status.complete.first?.size == Int64(size))
    #expect(status.complete.first?.blocks == Int64(release.blockCount))
    #expect(status.complete.first?.root == (try bench.site.field("root")))
    #expect(status.complete.first?.path == complete.path)
  }

  @Test("a second run finds the version complete and asks for no data", arguments: Server.available)
  func rerun(_ server: Server) throws {
    let bench = try Workbench(server)
    let release = try bench.site.publish(randomBytes(300_000))
    try bench.pull().expect(0)
    let before = try bench.server.count(of: release.dataPath)
    let again = try bench.pull("--json")
    again.expect(0)
    #expect(try again.events("begin").isEmpty)
    #expect(try again.last().fetched == 0)
    #expect(try [2, nil].contains(bench.server.count(of: "/manifest")))
    #expect(try bench.server.count(of: release.dataPath) == before)
    try bench.expectComplete(release)
  }

  @Test("the file has the date of its publication and the permissions that the user chose")
  func attributes() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(100))
    try bench.pull().expect(0)
    let published = try #require(try bench.site.field("published"))
    let date = try #require(ISO8601DateFormatter().date(from: published))
    for name in ["thing.bin", "manifest", "complete"] {
      let status = try #require(Disk.status("\(bench.directory)/v1/\(name)"))
      #expect(Int(status.st_mtim.tv_sec) == Int(date.timeIntervalSince1970), "\(name)")
      #expect(status.st_mode & 0o7777 == 0o666 & ~Disk.umask, "\(name)")
    }
    for (path, permissions) in [
      ("", 0o777 & ~Disk.umask), ("/v1", 0o777 & ~Disk.umask), ("/.fetchres", 0o700),
      ("/.fetchres/partial", 0o700), ("/.fetchres/lock", 0o600), ("/.fetchres/origin", 0o600),
    ] {
      #expect(Disk.permissions(bench.directory + path) == permissions, "\(path)")
    }
    #expect(Disk.permissions(bench.scratch("state/fetchres")) == 0o700)
    let records = Disk.names(in: bench.scratch("state/fetchres/sites"))
    #expect(records.count == 1)
    for record in records {
      #expect(Disk.permissions(bench.scratch("state/fetchres/sites/\(record)")) == 0o600)
    }
  }

  @Test("what is printed is the path of the file and nothing else", arguments: [[], ["--quiet"]])
  func printed(_ arguments: [String]) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(100))
    let outcome = try bench.fetchres.run(bench.pulling(arguments))
    outcome.expect(0)
    #expect(outcome.output == "\(bench.directory)/v1/thing.bin\n")
    #expect(outcome.error.isEmpty == !arguments.isEmpty)
    // No terminal, no codes for one.
    #expect(!outcome.error.contains("\r") && !outcome.error.contains("\u{1B}"))
  }

  @Test("without -d the directory is named after the last part of the origin")
  func defaultDirectory() throws {
    let bench = try Workbench(origin: "maps.example.com:8080/world:2")
    let release = try bench.site.publish(randomBytes(100))
    let work = bench.scratch("work")
    try Disk.makeDirectory(work)
    let pulled = try bench.fetchres.run(
      ["pull", bench.server.base, "--key", bench.site.key], in: work)
    pulled.expect(0)
    #expect(pulled.line == "world_2/v1/thing.bin")
    #expect(areEqual(try Disk.read("\(work)/world_2/v1/thing.bin"), release.bytes))
    // Commands without a directory find the only child that is one, and the one they stand in.
    #expect(try bench.fetchres.run(["path"], in: work).line == "world_2/v1/thing.bin")
    #expect(try bench.fetchres.run(["path"], in: "\(work)/world_2").line == "v1/thing.bin")
    try bench.fetchres.run(["verify"], in: work).expect(0)
  }

  @Test(
    "names that a URL cannot hold as they are travel percent-encoded", arguments: Server.available)
  func encodedNames(_ server: Server) throws {
    let bench = try Workbench(server)
    let release = try bench.site.publish(
      randomBytes(200_000), version: "1.0+build_7", file: "a+b-c_d.tar")
    let pulled = try bench.pull()
    pulled.expect(0)
    #expect(pulled.line == "\(bench.directory)/1.0+build_7/a+b-c_d.tar")
    try bench.expectComplete(release)
    if let origin = bench.server as? Origin {
      let target = try #require(origin.entries(of: release.dataPath).first?.request.target)
      #expect(target == "/releases/1.0%2Bbuild_7/a%2Bb-c_d.tar")
    }
    let pinned = try bench.fetchres.run(
      ["pull", bench.server.base + "releases/1.0%2Bbuild_7/manifest", "--key", bench.site.key]
        + bench.server.pullArguments + ["-d", bench.scratch("pinned")])
    pinned.expect(0)
    #expect(pinned.line == bench.scratch("pinned/1.0+build_7/a+b-c_d.tar"))
  }

  @Test(
    "trees of more than one tile are pulled and proven",
    arguments: [(256, 100), (257, 100), (300, 7), (70_000, 16)])
  func manyBlocks(_ count: Int, _ blockSize: Int) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(
      randomBytes(count * blockSize - 3), blockSize: blockSize)
    #expect(try bench.site.field("blocks") == "\(count)")
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    try bench.fetchres.run("verify", bench.directory).expect(0)
  }

  @Test("a version with a byte changed is found by verify, and nothing else of it is said to hold")
  func verifyFinds() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(200_000))
    try bench.pull().expect(0)
    try Disk.flip("\(bench.directory)/v1/thing.bin", at: 123_456)
    let plain = try bench.fetchres.run("verify", bench.directory)
    plain.expectRefusal(4, "v1/thing.bin hashes to", "fetchres: hint: ")
    let json = try bench.fetchres.run("verify", bench.directory, "--json")
    json.expect(4)
    #expect(try json.events("verified").map(\.holds) == [false])
  }
}
