import SignedNote
import System
import Testing

/// What else than data a proxy is there for: gossip, samples, witnesses, uploads that are read back,
/// mirrors that are added meanwhile, and Tor with its control port.
@Suite(.enabled(if: ConnectTrace.isPossible, ConnectTrace.need))
struct FailClosedCommandTests {
  /// Pulled once, so that there is something to compare.
  private static func pulled() throws -> (Workbench, ProxyProcess) {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(5 * Site.blockSize))
    try bench.pull().expect(0)
    return (bench, try ProxyProcess(.microsocks))
  }

  private static func trace(
    _ bench: Workbench, _ proxy: ProxyProcess, _ arguments: [String]
  ) throws -> Outcome {
    let traced = try ConnectTrace(
      bench, arguments + ["--proxy", proxy.url], to: [proxy.address])
    traced.expectTight()
    return traced.outcome
  }

  @Test("gossip by URL, and what is looked up to compare it, go through the proxy")
  func gossip() throws {
    let (bench, proxy) = try Self.pulled()
    let first = try bench.scratch.write(
      "first", try Disk.read("\(bench.site.path)/checkpoint"))
    let url = bench.server.base + "checkpoint"
    let named = url.replacing("127.0.0.1", with: "localhost")
    for place in [url, named] {
      try Self.trace(bench, proxy, ["integrity", "ingest", place]).expect(0)
    }
    try Self.trace(bench, proxy, ["integrity", "ingest", "http://no-such-host.invalid/checkpoint"])
      .expect(3)
    // An older head has to be looked up, where it is not known to be the beginning of ours.
    try bench.site.publish(randomBytes(1_000), version: "v2")
    try bench.site.publish(randomBytes(1_000), version: "v3")
    try bench.pull().expect(0)
    let traced = try ConnectTrace(
      bench, ["integrity", "ingest", first, "--proxy", proxy.url], to: [proxy.address])
    #expect(traced.leaks.isEmpty)
    traced.outcome.expect(0)
  }

  @Test("so do samples, manifests that are looked at, and uploads that are read back")
  func others() throws {
    let (bench, proxy) = try Self.pulled()
    try Self.trace(bench, proxy, ["integrity", "sample", bench.directory]).expect(0)
    try Self.trace(bench, proxy, ["inspect", bench.server.base + "manifest"]).expect(0)
    try Self.trace(bench, proxy, ["inspect", "http://no-such-host.invalid/manifest"]).expect(3)
    try Self.trace(
      bench, proxy, ["publish", "--check", bench.server.base, "--site", bench.site.path, "--live"]
    ).expect(0)
    try Self.trace(
      bench, proxy,
      [
        "publish", "--recover", bench.server.base, "--site", bench.scratch("again"), "--key",
        bench.site.keyFile,
      ]
    ).expect(0)
  }

  @Test("the hint at a key that nobody trusts is fetched through the proxy")
  func unknownKey() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let proxy = try ProxyProcess(.microsocks)
    let outcome = try Self.trace(
      bench, proxy, ["pull", bench.server.base + "manifest", "-d", bench.directory, "--json"])
    try outcome.expectFailure("unknown-key", 5, bench.site.key)
  }

  @Test("witnesses are asked by nobody: their cosignatures come with the log, through the proxy")
  func witnesses() throws {
    let bench = try Workbench()
    let witness = try WitnessServer(try #require(NoteKey(bench.site.key)))
    try bench.fetchres.run("trust", "witness", "add", "\(witness.witness.key)").expect(0)
    try bench.fetchres.run("trust", "quorum", "1").expect(0)
    let input = try bench.scratch.write("first", randomBytes(1_000))
    let held = try bench.fetchres.run(bench.site.publishing(input, ["--hold-checkpoint"]))
    held.expect(0)
    let cosigned = try CosigningTests.cosigned(bench, witness, old: 0, held.bytes)
    let file = try bench.scratch.write("cosigned", cosigned)
    try bench.mode("--release-checkpoint", file).expect(0)
    let proxy = try ProxyProcess(.microsocks)
    try Self.trace(bench, proxy, bench.pulling(["--json"])).expect(0)
    // One that is not cosigned is refused, and nobody is asked why.
    try bench.site.publish(randomBytes(1_000), version: "v2")
    try Self.trace(bench, proxy, bench.pulling(["--json", "--give-up-after", "1"])).expect(5)
  }

  @Test("mirrors of a manifest, of the list, and added while the pull runs are asked through it")
  func mirrors() throws {
    let bench = try Workbench()
    let (slow, fast) = (try Origin(bench.site.path), try Origin(bench.site.path))
    let release = try bench.site.publish(
      randomBytes(60 * Site.blockSize), ["--mirror", "http://no-such-mirror.invalid/"])
    try bench.origin().bendData(of: release) { _, response in response = OriginResponse(503, []) }
    slow.bendData(of: release) { _, response in response.pace = (bytes: 2_048, seconds: 0.1) }
    func mirror(_ words: String...) throws {
      try bench.fetchres.run(["mirror", words[0], "example.org/thing", words[1]]).expect(0)
    }
    try mirror("add", "http://no-such-mirror-either.invalid/")
    try mirror("add", slow.base)
    let proxy = try ProxyProcess(.microsocks)
    let traced = try ConnectTrace(
      bench, bench.pulling(["--json", "--proxy", proxy.url]), to: [proxy.address]
    ) { _ in
      #expect(slow.wait { $0.bodyBytes > 100_000 })
      // By name, which would be resolved here if it were not for the proxy.
      try mirror("add", fast.base.replacing("127.0.0.1", with: "localhost"))
      try mirror("remove", slow.base)
    }
    traced.expectTight()
    traced.outcome.expect(0)
    try bench.expectComplete(release)
    #expect(fast.bytes(of: release.dataPath) > 0)
  }

  @Test("with Tor, only its own ports are asked, whether it gets through or not")
  func tor() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(5 * Site.blockSize))
    let silent = try ScriptedPeer([[5, 0]], holds: true)
    let control = try ControlPort(.percent(10))
    let dead = "127.0.0.1:\(try ProxyProcess.freePort())"
    for (socks, category) in [(silent.address, "tor-stalled"), (dead, "proxy-unreachable")] {
      let alone = try ConnectTrace(
        bench, bench.pulling(["--json", "--tor-socks", socks, "--give-up-after", "2"]),
        to: [socks])
      alone.expectTight()
      try alone.outcome.expectFailure(category, 3)
    }
    let told = try ConnectTrace(
      bench,
      bench.pulling([
        "--json", "--tor-socks", silent.address, "--tor-control", control.address,
        "--give-up-after", "2",
      ]), to: [silent.address, control.address])
    told.expectTight()
    try told.outcome.expectFailure("tor-stalled", 3)
    let ready = try ControlPort(.percent(50), .percent(100))
    let tor = try ProxyProcess(.microsocks)
    let through = try ConnectTrace(
      bench,
      bench.pulling([
        "--json", "--tor-socks", tor.address, "--tor-control", ready.address, "--mirror",
        "http://no-such-mirror.invalid/",
      ]), to: [tor.address, ready.address])
    through.expectTight()
    #expect(through.asked.count == 2)
    through.outcome.expect(0)
    try bench.expectComplete(release)
  }

  @Test("a name that no proxy can be given is asked of nobody")
  func longName() throws {
    let bench = try Workbench()
    let label = String(repeating: "a", count: 63) + "."
    let name = label + label + label + label + "com"
    let proxy = try ProxyProcess(.microsocks)
    for proxy in [proxy.url, "http://\(proxy.address)"] {
      let traced = try ConnectTrace(
        bench,
        [
          "pull", "http://\(name)/manifest", "--key", bench.site.key, "-d", bench.directory,
          "--json", "--retry-now", "--give-up-after", "1", "--proxy", proxy,
        ], to: [])
      #expect(traced.leaks.isEmpty, "\(traced.leaks)")
      try traced.outcome.expectFailure("proxy-unreachable", 3, "longer than the 255 bytes")
    }
  }
}
