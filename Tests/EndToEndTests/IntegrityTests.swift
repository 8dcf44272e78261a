import Foundation
import System
import Testing

/// What the release log says to people.
@Suite struct IntegrityTests {
  /// A pulled release, and a copy of the site as it was then.
  static func pulled() throws -> Workbench {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(200_000))
    try bench.pull().expect(0)
    try Disk.copy(bench.site.path, to: bench.scratch("first"))
    return bench
  }

  static func integrity(_ bench: Workbench, _ words: String...) throws -> Outcome {
    try bench.fetchres.run(["integrity"] + words)
  }

  /// The same history up to here, which then goes another way, in the place of the site.
  static func fork(_ bench: Workbench, _ versions: String...) throws {
    try bench.restore(bench.scratch("first"))
    try? Disk.remove("\(bench.site.keyFile).head")
    for version in versions { try bench.site.publish(randomBytes(1_000), version: version) }
  }

  @Test("the report says what was verified, and that all is well")
  func report() throws {
    let bench = try Self.pulled()
    let report = try Self.integrity(bench)
    report.expect(0)
    for words in [
      "example.org/thing\n", "1 release, the newest is release 0, version v1", bench.site.key,
      "none: all is well",
    ] {
      #expect(report.output.contains(words), "\(report.testDescription)")
    }
    #expect(try Self.integrity(bench, "report", "example.org/thing").output == report.output)
    let json = try Self.integrity(bench, "example.org/thing", "--json")
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(object?["size"] as? Int == 1 && object?["unacknowledged"] as? Int == 0)
    try Self.integrity(bench, "report", "example.org/other").expectRefusal(1, "nothing is known")
  }

  @Test("a site that went back is only behind, a site that went another way is a fork")
  func fork() throws {
    let bench = try Self.pulled()
    try bench.site.publish(randomBytes(1_000), version: "v2")
    try bench.pull().expect(0)
    let honest = bench.scratch("honest")
    try Disk.copy(bench.site.path, to: honest)
    try bench.restore(bench.scratch("first"))
    let stale = try bench.pull()
    stale.expect(0)
    #expect(stale.error.contains("stale: this source is behind"))
    #expect(try bench.path()?.hasSuffix("/v2/thing.bin") == true)

    try Self.fork(bench, "v2b")
    let fork = try bench.pull("--json")
    try fork.expectFailure("fork", 5, "signed two histories", "evidence/fork-")
    #expect(try fork.events("alert").map(\.category) == ["fork"])
    // Raised once, shown until it is acknowledged.
    let again = try bench.pull("--json")
    try again.expectFailure("fork", 5)
    #expect(try again.events("alert").isEmpty)
    try bench.restore(honest)
    let honestPull = try bench.pull()
    honestPull.expect(0)
    #expect(honestPull.error.contains("1 alert about example.org/thing is not acknowledged"))
    let report = try Self.integrity(bench)
    #expect(report.output.contains("different people are shown different things"))
    try Self.integrity(bench, "ack").expect(0)
    #expect(!(try bench.pull()).error.contains("acknowledged"))

    // The evidence stands for itself.
    let evidence = bench.scratch("state/fetchres/evidence")
    let file = "\(evidence)/\(try #require(Disk.names(in: evidence).first))"
    try Self.integrity(bench, "verify-evidence", file).expect(0)
    let verified = try Self.integrity(bench, "verify-evidence", file, "--key", bench.site.key)
    verified.expect(0)
    #expect(verified.output.contains("signed by \(bench.site.key)"))
    let other = try KeyTests.otherKey(bench, "example.org/thing")
    try Self.integrity(bench, "verify-evidence", file, "--key", other)
      .expectRefusal(4, "not evidence")
    let text = String(decoding: try Disk.read(file), as: UTF8.self)
    let forged = try bench.scratch.write(
      "forged", Array(text.replacing("| 2\n", with: "| 3\n").utf8))
    try Self.integrity(bench, "verify-evidence", forged).expectRefusal(4, "not evidence")
  }

  @Test("gossip compares what two clients have seen")
  func gossip() throws {
    let bench = try Self.pulled()
    let ours = try Self.integrity(bench, "gossip", "example.org/thing")
    ours.expect(0)
    #expect(ours.bytes == (try Disk.read("\(bench.site.path)/checkpoint")))
    let first = try bench.scratch.write("first-head", ours.bytes)
    #expect(try Self.integrity(bench, "ingest", first).output.hasPrefix("match: "))
    try bench.site.publish(randomBytes(1_000), version: "v2")
    // Somebody else has seen more: remembered, and resolved at the next pull.
    let url = bench.server.base + "checkpoint"
    #expect(try Self.integrity(bench, "ingest", url).output.hasPrefix("ahead: "))
    #expect(try Self.integrity(bench).output.contains("1 state that somebody showed"))
    try bench.pull().expect(0)
    #expect(!(try Self.integrity(bench)).output.contains("somebody showed"))
    #expect(try Self.integrity(bench, "ingest", url).output.hasPrefix("match: "))
    #expect(try Self.integrity(bench, "ingest", first).output.hasPrefix("behind: "))
    // Another history is a fork, whoever shows it.
    try Self.fork(bench, "v2b", "v3b")
    let forked = try Self.integrity(bench, "ingest", "\(bench.site.path)/checkpoint")
    forked.expect(0)
    #expect(forked.output.hasPrefix("ahead: "))
    try Self.fork(bench, "v2c")
    try Self.integrity(bench, "ingest", "\(bench.site.path)/checkpoint")
      .expectRefusal(5, "signed two histories")
    try bench.pull().expect(5)
    // What nobody trusted signed is no gossip.
    let junk = try bench.scratch.write("junk", Array("hello\n".utf8))
    try Self.integrity(bench, "ingest", junk).expectRefusal(4, "not a signed note")
  }

  @Test("samples prove what lies on this disk with proofs that are fetched afresh")
  func samples() throws {
    let bench = try Self.pulled()
    let sample = try bench.fetchres.run("integrity", "sample", bench.directory, "--count", "9")
    sample.expect(0)
    #expect(sample.output.contains("verified; 1 release found in the release log"))
    #expect(try Self.integrity(bench).output.contains("proven"))
    // Proofs that cannot be had are no alarm.
    try bench.origin().bend { _, response in response = OriginResponse(404, []) }
    let missing = try bench.fetchres.run("integrity", "sample", bench.directory)
    missing.expect(0)
    #expect(missing.error.contains("no alarm"))
    try bench.origin().bend(nil)
    for block in Int64(0)..<4 {
      try Disk.flip("\(bench.directory)/v1/thing.bin", at: block * 65_536 + 9)
    }
    let spoiled = try bench.fetchres.run("integrity", "sample", bench.directory)
    spoiled.expect(4)
    #expect(spoiled.error.contains("is not what was signed"))
  }

  @Test("a pinned pull says which release is newer")
  func pinned() throws {
    let bench = try Self.pulled()
    try bench.site.publish(randomBytes(1_000), version: "v2")
    for _ in 0..<2 {
      let outcome = try bench.pull("--json", pinned: "v1")
      outcome.expect(0)
      #expect(try outcome.last().newerVersion == "v2")
    }
    #expect(try bench.pull(pinned: "v1").error.contains("version v2 is newer"))
    #expect(try bench.pull("--json", pinned: "v2").last().newerVersion == nil)
  }

  @Test("an announced key follows by itself")
  func announced() throws {
    let bench = try Workbench()
    let next = bench.scratch("next.key")
    let made = try bench.fetchres.run("keygen", "example.org/thing", "--out", next)
    try bench.site.publish(randomBytes(1_000), ["--next-key", made.line])
    try bench.pull().expect(0)
    let input = try bench.scratch.write("second", randomBytes(1_000))
    try bench.fetchres.run(
      "publish", input, "--site", bench.site.path, "--version", "v2", "--key", next
    ).expect(0)
    let changed = try bench.pull()
    changed.expect(0)
    #expect(changed.error.contains("as the old one had announced"))
    #expect(!(try bench.pull()).error.contains("announced"))
    // The old one counts no more.
    let late = try bench.fetchres.run(
      "publish", input, "--site", bench.site.path, "--version", "v3", "--key", bench.site.keyFile,
      "--force-unannounced-key")
    late.expect(0)
    try bench.pull("--json").expectFailure("key-change", 5)
  }

  @Test("with --max-age a publisher that is silent for too long is refused")
  func maximumAge() throws {
    let bench = try Self.pulled()
    try bench.pull("--max-age", "1d").expect(0)
    #expect(waitUntil { (try? bench.pull("--max-age", "0").exitCode) == 5 })
    try bench.pull("--json", "--max-age", "0")
      .expectFailure("expired", 5, "the local clock says 20")
    try bench.refresh().expect(0)
    try bench.pull("--max-age", "1d").expect(0)
  }

  @Test("a checkpoint without end is cut off")
  func endless() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(100_000))
    // More than the buffers of a connection hold.
    let endless = [UInt8](repeating: 0x78, count: 64 << 20)
    try bench.origin().bend { request, response in
      if request.path == "/checkpoint" { response.replaceBody(endless) }
    }
    try bench.pull("--json").expectFailure("too-large", 4)
    #expect(try bench.origin().bytes(of: "/checkpoint") < 64 << 20)
    #expect(try bench.origin().count(of: release.dataPath) == 0)
  }
}
