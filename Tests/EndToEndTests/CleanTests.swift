import Testing

@Suite struct CleanTests {
  @Test("clean --all removes unfinished work and nothing else, and a dry run removes nothing")
  func unfinished() throws {
    let bench = try Workbench()
    let old = try bench.site.publish(randomBytes(1_000))
    try bench.pull().expect(0)
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize), version: "v2")
    try bench.interruptPull(release, upTo: 48)
    let partial = try bench.pulled.onlyPartial().path

    let dry = try bench.fetchres.run("clean", bench.directory, "--all", "--dry-run")
    dry.expect(0)
    #expect(dry.line == partial)
    #expect(dry.error == "fetchres: would free about 3.0 MiB\n")
    #expect(Disk.exists(partial))
    let wet = try bench.fetchres.run("clean", bench.directory, "--all")
    wet.expect(0)
    #expect(wet.line == partial)
    #expect(bench.pulled.partialNames.isEmpty)
    #expect(try bench.path() == "\(bench.directory)/v1/\(old.file)")
    try bench.expectResume(release, fetching: 0..<80)
  }

  @Test("clean keeps what the next pull goes on with, and removes what none does")
  func newest() throws {
    let bench = try Workbench()
    let begun = try bench.site.publish(randomBytes(80 * Site.blockSize))
    try bench.interruptPull(begun, upTo: 48)
    let old = try bench.pulled.onlyPartial().path
    let kept = try bench.fetchres.run("clean", bench.directory)
    kept.expect(0)
    #expect(kept.output.isEmpty && Disk.exists(old))
    // A newer version is complete: nobody goes on with the older one.
    try bench.site.publish(randomBytes(1_000), version: "v2")
    try bench.pull("--on-new-version", "switch").expect(0)
    try #require(Disk.exists(old))
    let gone = try bench.fetchres.run("clean", bench.directory)
    gone.expect(0)
    #expect(gone.line == old && !Disk.exists(old))
  }

  @Test("clean --old-versions keeps what path answers")
  func oldVersions() throws {
    let bench = try Workbench()
    for version in ["v1", "v2", "v3"] {
      try bench.site.publish(randomBytes(1_000), version: version)
      try bench.pull().expect(0)
    }
    try bench.fetchres.run("clean", bench.directory).expect(0)
    #expect(bench.pulled.markers == ["v1", "v2", "v3"])
    let dry = try bench.fetchres.run("clean", bench.directory, "--old-versions", "--dry-run")
    dry.expect(0)
    #expect(bench.pulled.markers == ["v1", "v2", "v3"])
    let wet = try bench.fetchres.run("clean", bench.directory, "--old-versions")
    wet.expect(0)
    #expect(wet.output == dry.output)
    #expect(bench.pulled.markers == ["v3"])
    #expect(Disk.names(in: bench.directory) == [".fetchres", "current", "v3"])
  }
}
