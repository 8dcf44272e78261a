import System
import Testing

/// `publish --check` of an upload, before it goes live and after.
@Suite struct SiteCheckTests {
  /// A site with a version that is live and one that is about to be, and a server in front of what is
  /// uploaded by then.
  private struct Upload {
    let bench: Workbench
    let live: Origin
    let root: String
    let release: Release

    init(new bytes: Int = 300_000) throws {
      bench = try Workbench()
      try bench.site.publish(randomBytes(100_000))
      root = bench.scratch("live")
      try Disk.copy(bench.site.path, to: root)
      try Disk.remove("\(root)/.publish")
      release = try bench.site.publish(randomBytes(bytes), version: "v2")
      live = try Origin(root)
    }

    func upload(_ phases: String...) throws {
      for phase in phases {
        let order = try bench.mode("--upload-order", "--phase", phase)
        order.expect(0)
        for file in order.output.split(separator: "\n") {
          try Disk.write("\(root)/\(file)", try Disk.read("\(bench.site.path)/\(file)"))
        }
      }
    }

    func check(_ words: String...) throws -> Outcome {
      try bench.fetchres.run(
        ["publish", "--check", live.base, "--site", bench.site.path] + words)
    }

    /// Nothing was asked for that was not there.
    func expectNoMiss(sourceLocation: SourceLocation = #_sourceLocation) {
      let missed = live.entries.filter { $0.status >= 400 }.map(\.request.path)
      #expect(missed.isEmpty, sourceLocation: sourceLocation)
    }
  }

  @Test("ready before it goes live, live after, and no name is asked for too early")
  func inOrder() throws {
    let upload = try Upload()
    try upload.upload("releases", "tile")
    let ready = try upload.check()
    ready.expect(0)
    #expect(ready.output == "ready\n")
    upload.expectNoMiss()
    try upload.upload("checkpoint")
    #expect(try upload.check().output == "ready\n")
    try upload.check("--live").expectRefusal(4, "an older one")
    try upload.upload("manifests")
    #expect(try upload.check("--live", "--all").output == "live\n")
    upload.expectNoMiss()
    #expect(upload.live.blocksAsked(of: upload.release) == Set(0..<upload.release.blockCount))
  }

  @Test("nothing of a first publish that is not uploaded is asked for")
  func first() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(100_000))
    for name in ["checkpoint", "manifest"] {
      try Disk.move("\(bench.site.path)/\(name)", to: bench.scratch(name))
    }
    let root = bench.scratch("live")
    try Disk.copy(bench.site.path, to: root)
    for name in ["checkpoint", "manifest"] {
      try Disk.move(bench.scratch(name), to: "\(bench.site.path)/\(name)")
    }
    let live = try Origin(root)
    let ready = try bench.mode("--check", live.base, "--all")
    ready.expect(0)
    #expect(ready.output == "ready\n")
    #expect(live.entries.allSatisfy { $0.status < 400 })
  }

  @Test("a refresh is checked without asking for the manifest it will replace to be new")
  func refreshed() throws {
    let upload = try Upload()
    try upload.upload("releases", "tile", "checkpoint", "manifests")
    try upload.bench.refresh().expect(0)
    try upload.upload("releases", "tile")
    #expect(try upload.check().output == "ready\n")
    try upload.upload("checkpoint", "manifests")
    #expect(try upload.check("--live").output == "live\n")
    upload.expectNoMiss()
  }

  @Test(
    "what does not verify is said, and exits 4",
    arguments: [
      "/releases/v2/thing.bin", "/releases/v2/tile/0/000.p/5", "/tile/0/000.p/2",
      "/tile/entries/000.p/2", "/releases/v2/manifest",
    ])
  func tampered(_ path: String) throws {
    let upload = try Upload()
    try upload.upload("releases", "tile")
    upload.live.bend { request, response in
      if request.path == path { response.bytes[20] ^= 1 }
    }
    try upload.check("--all").expectRefusal(4)
    upload.live.bend(nil)
    #expect(try upload.check("--all").output == "ready\n")
  }

  @Test("a checkpoint that nobody signed is refused as such")
  func tamperedCheckpoint() throws {
    let upload = try Upload()
    try upload.upload("releases", "tile")
    upload.live.bend { request, response in
      if request.path == "/checkpoint" { response.bytes[5] ^= 1 }
    }
    try upload.check().expectRefusal(5)
  }

  @Test("a site that is behind what is live is refused, with the way out")
  func older() throws {
    let upload = try Upload()
    try upload.upload("releases", "tile", "checkpoint", "manifests")
    let bench = upload.bench
    try Disk.copy(bench.site.path, to: bench.scratch("backup"))
    try bench.publishing("v3").expect(0)
    try upload.upload("releases", "tile", "checkpoint", "manifests")
    try bench.restore(bench.scratch("backup"))
    try upload.check().expectRefusal(5, "this site is behind", "--recover")
  }

  @Test("a missing upload is said")
  func missing() throws {
    let upload = try Upload()
    try upload.upload("tile")
    try upload.check().expectRefusal(4, "404")
  }
}
