import System
import Testing

/// `publish --refresh`, `--prune`, `--abandon`, `--upload-order` and `log verify`, as a shell sees them.
@Suite struct SiteModeTests {
  @Test("a refresh keeps what is published and changes its dates")
  func refreshes() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(200_000))
    try bench.pull().expect(0)
    let words = ["version", "size", "block-size", "blocks", "root", "file", "key", "since"]
    let before = try words.map { try bench.site.field($0) }
    let refreshed = try bench.refresh("--expires", "+90d")
    refreshed.expect(0)
    #expect(refreshed.error.contains("refreshed example.org/thing v1 as release 1"))
    #expect(try words.map { try bench.site.field($0) } == before)
    #expect(try bench.site.field("release") == "1" && bench.site.field("expires") != nil)
    #expect(try bench.site.manifest() == bench.site.manifest("v1"))
    try bench.verifyLog().expect(0)
    try bench.origin().forget()
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    #expect(try bench.origin().count(of: release.dataPath) == 0)
  }

  @Test("an interrupted pull goes on over a refresh")
  func pullOverRefresh() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    try bench.interruptPull(release, upTo: 48)
    try bench.refresh().expect(0)
    try bench.origin().forget()
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    #expect(try bench.origin().blocksAsked(of: release) == Set(48..<80))
  }

  @Test("there is nothing to refresh in a site without releases")
  func nothingToRefresh() throws {
    try Workbench().refresh().expectRefusal(2, "no release to refresh", "publish a file first")
  }

  @Test("prune removes the data of an old version and keeps its manifest and its name")
  func prunes() throws {
    let bench = try Workbench()
    let old = try bench.site.publish(randomBytes(200_000))
    try bench.mode("--prune", "v1").expectRefusal(2, "v1 is the newest")
    try bench.site.publish(randomBytes(1_000), version: "v2")
    let manifest = try bench.site.manifest("v1")
    try bench.mode("--prune", "v3").expectRefusal(2, "no version v3")
    let pruned = try bench.mode("--prune", "v1")
    pruned.expect(0)
    #expect(pruned.error.contains("the data of version v1 are removed, its manifest is kept"))
    #expect(Disk.names(in: "\(bench.site.path)/releases/v1") == ["manifest"])
    #expect(try bench.site.manifest("v1") == manifest)
    let again = try bench.mode("--prune", "v1")
    again.expect(0)
    #expect(again.error.contains("v1 was pruned before"))
    let verified = try bench.verifyLog()
    verified.expect(0)
    #expect(verified.output.contains("v1: pruned"))
    #expect(verified.output.contains("2 releases of 2 versions hold"))
    try bench.publishing("v1").expectRefusal(5, "published with other content", "under a new one")
    try bench.pull().expect(0)
    #expect(try bench.origin().count(of: old.dataPath) == 0)
    let back = try bench.fetchres.run(
      bench.site.publishing(try bench.scratch.write("thing.bin", old.bytes), version: "v1"))
    back.expect(0)
    #expect(back.error.contains("its data were gone: they are put back; upload releases/v1 again"))
    #expect(try bench.verifyLog().output.contains("v1: pruned") == false)
  }

  @Test("abandon says whether there was anything")
  func abandons() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let nothing = try bench.mode("--abandon")
    nothing.expect(0)
    #expect(nothing.error.contains("there is no interrupted publish"))
    try Disk.write("\(bench.site.path)/releases/.new-v2/thing.bin", [1])
    let something = try bench.mode("--abandon")
    something.expect(0)
    #expect(something.error.contains("is forgotten"))
    #expect(Disk.names(in: "\(bench.site.path)/releases") == ["v1"])
  }

  @Test("modes that exclude each other, and options that are missing, are usage errors")
  func usage() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let modes = [
      ["--refresh"], ["--prune", "v1"], ["--abandon"], ["--recover", "http://x/"],
      ["--check", "http://x/"], ["--upload-order"],
    ]
    for (index, mode) in modes.enumerated() {
      for other in modes[(index + 1)...] {
        try bench.fetchres.run(["publish", "--site", bench.site.path] + mode + other)
          .expectRefusal(2, "\(mode[0]) and \(other[0]) exclude each other")
      }
      try bench.fetchres.run(["publish"] + mode + ["--key", bench.site.keyFile])
        .expectRefusal(2, "publish needs --site")
      try bench.fetchres.run(["publish", "file", "--site", bench.site.path] + mode)
        .expectRefusal(2, "\(mode[0]) takes no file")
    }
    for mode in [["--refresh"], ["--recover", bench.server.base]] {
      try bench.fetchres.run(["publish", "--site", bench.site.path] + mode)
        .expectRefusal(2, "publish needs --key")
    }
    try bench.fetchres.run("publish", "--site", bench.site.path)
      .expectRefusal(2, "publish needs a file")
  }

  @Test("an option that says nothing about a mode is refused before anything is changed")
  func uselessOptions() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let before = try bench.site.manifest()
    let useless = [
      (["--refresh"], ["--version", "v2"]), (["--refresh"], ["--block-size", "64K"]),
      (["--refresh"], ["--all"]), (["--prune", "v1"], ["--expires", "+1d"]),
      (["--abandon"], ["--mirror", "http://x.example/"]), (["--upload-order"], ["--live"]),
      (["--check", "http://x.example/"], ["--null"]),
      (["--recover", "http://x.example/"], ["--link"]),
      (["--release-checkpoint", "file"], ["--clock-was-wrong"]),
    ]
    for (mode, option) in useless {
      try bench.fetchres.run(["publish", "--site", bench.site.path] + mode + option)
        .expectRefusal(2, "\(option[0]) says nothing about \(mode[0])", "help publish")
    }
    try bench.fetchres.run("publish", "file", "--site", bench.site.path, "--phase", "tile")
      .expectRefusal(2, "--phase says nothing about a file")
    #expect(try bench.site.manifest() == before)
    // What the configuration says is for those that it is for.
    try Disk.write(bench.scratch("config"), Array("no-proxy\nmirror http://x.example/\n".utf8))
    try bench.refresh("--config", bench.scratch("config")).expect(0)
  }

  @Test("the upload order names every file once, in four phases, and ends names as told")
  func uploadOrder() throws {
    let bench = try Workbench()
    try bench.mode("--upload-order").expectRefusal(1, "nothing was published")
    try bench.site.publish(randomBytes(1_000))
    let all = try bench.mode("--upload-order")
    all.expect(0)
    #expect(
      all.output == """
        releases/v1/manifest
        releases/v1/thing.bin
        releases/v1/tile/0/000.p/1
        tile/entries/000.p/1
        tile/0/000.p/1
        checkpoint
        manifest

        """)
    var parts = ""
    for phase in ["releases", "tile", "checkpoint", "manifests"] {
      parts += try bench.mode("--upload-order", "--phase", phase).output
    }
    #expect(parts == all.output)
    let null = try bench.mode("--upload-order", "--null")
    #expect(null.output == all.output.split(separator: "\n").map { $0 + "\0" }.joined())
    try bench.mode("--upload-order", "--phase", "nothing").expectRefusal(2, "nothing")
    try bench.refresh().expect(0)
    let refreshed = try bench.mode("--upload-order", "--phase", "manifests")
    #expect(refreshed.output == "releases/v1/manifest\nmanifest\n")
    #expect(try bench.mode("--upload-order", "--phase", "releases").output == "")
  }

  @Test("log verify names the file that differs, and exits 4")
  func verifies() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(200_000))
    try bench.site.publish(randomBytes(1_000), version: "v2")
    for file in [
      "releases/v2/thing.bin", "releases/v1/thing.bin", "releases/v1/tile/0/000.p/4",
      "tile/0/000.p/2",
    ] {
      try Disk.flip("\(bench.site.path)/\(file)", at: 3)
      try bench.verifyLog().expectRefusal(4, file)
      try Disk.flip("\(bench.site.path)/\(file)", at: 3)
    }
    try bench.verifyLog().expect(0)
    try bench.fetchres.run("log", "verify", bench.scratch("nothing"))
      .expectRefusal(6, "cannot open the site")
    for file in ["releases/v1/thing.bin", "checkpoint", "manifest"] {
      let bytes = try Disk.read("\(bench.site.path)/\(file)")
      try Disk.remove("\(bench.site.path)/\(file)")
      try bench.verifyLog().expectRefusal(4, "\(file) is missing")
      try Disk.write("\(bench.site.path)/\(file)", bytes)
    }
    try Disk.makeDirectory(bench.scratch("empty"))
    try bench.fetchres.run("log", "verify", bench.scratch("empty"))
      .expectRefusal(1, "nothing is published")
  }

  @Test("serve never shows what is being published", arguments: [Server.serve])
  func serves(_ server: Server) throws {
    let bench = try Workbench(server)
    try bench.site.publish(randomBytes(1_000))
    try Disk.write("\(bench.site.path)/releases/.new-v2/manifest", try bench.site.manifest())
    #expect(Disk.exists("\(bench.site.path)/.publish/last"))
    try bench.fetchres.run("inspect", "\(bench.server.base)releases/v1/manifest").expect(0)
    for path in [
      "releases/.new-v2/manifest", "releases/%2enew-v2/manifest", ".publish/last/manifest",
      ".publish/last", "%2Epublish/last", "releases/../.publish/last",
    ] {
      let outcome = try bench.fetchres.run("inspect", "\(bench.server.base)\(path)")
      #expect(outcome.exitCode != 0 && !outcome.output.contains("v1"), "\(path) is served")
    }
  }
}
