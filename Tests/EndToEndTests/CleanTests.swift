import Testing

@Suite struct CleanTests {
  @Test("clean removes unfinished work and nothing else, and a dry run removes nothing")
  func unfinished() throws {
    let bench = try Workbench()
    let old = try bench.site.publish(randomBytes(1_000))
    try bench.pull().expect(0)
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize), version: "v2")
    try bench.interruptPull(release, upTo: 48)
    let partial = try bench.pulled.onlyPartial().path

    let dry = try bench.fetchres.run("clean", bench.directory, "--dry-run")
    dry.expect(0)
    #expect(dry.line == partial)
    #expect(Disk.exists(partial))
    let wet = try bench.fetchres.run("clean", bench.directory)
    wet.expect(0)
    #expect(wet.line == partial)
    #expect(bench.pulled.partialNames.isEmpty)
    #expect(try bench.path() == "\(bench.directory)/v1/\(old.file)")
    try bench.expectResume(release, fetching: 0..<80)
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
