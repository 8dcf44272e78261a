import System
import Testing

/// The way out that the configuration names, against the command line and the environment, with real
/// proxies.
@Suite(.enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
struct ProxyConfigurationTests {
  private let bench: Workbench
  private let release: Release

  init() throws {
    bench = try Workbench()
    release = try bench.site.publish(randomBytes(300_000))
  }

  private func configure(_ lines: String...) throws -> String {
    try bench.fetchres.scratch.write(
      "config/fetchres/config", Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  /// Whether all that the origin was asked came through a proxy of HTTP, which says so in the request.
  private func allCameThrough(_ proxy: ProxyProcess) throws -> Bool {
    let requests = try bench.origin().entries.map(\.request)
    try bench.origin().forget()
    return !requests.isEmpty
      && requests.allSatisfy { $0.fields["via"]?.contains(proxy.mark) == true }
  }

  @Test("command line, file and environment count in this order, and the run says which it was")
  func order() throws {
    let (named, filed, typed) = (
      try ProxyProcess(.tinyproxy), try ProxyProcess(.tinyproxy), try ProxyProcess(.squid)
    )
    func pull(_ proxy: ProxyProcess, _ words: String, _ more: [String] = []) throws {
      let outcome = try bench.fetchres.run(
        bench.pulling(["--verbose"] + more),
        variables: ["http_proxy": named.url, "NO_PROXY": more.isEmpty ? nil : "*"])
      outcome.expect(0)
      #expect(outcome.error.contains("the proxy \(proxy.url): \(words) says so"), "\(outcome)")
      #expect(try allCameThrough(proxy))
      try bench.expectComplete(release)
    }
    try pull(named, "http_proxy")
    let file = try configure("proxy \(filed.url)")
    try Disk.remove(bench.directory)
    try pull(filed, "\(file):1")
    try pull(typed, "--proxy", ["--proxy", typed.url])
  }

  @Test("a file with user and password, named in the configuration")
  func password() throws {
    let proxy = try ProxyProcess(.squid, password: "pass:w0rd")
    let file = try bench.scratch.write("auth", Array("user:pass:w0rd\n".utf8))
    let path = try configure("proxy \(proxy.url)", "proxy-auth-file \(file)")
    let outcome = try bench.pull("--verbose")
    outcome.expect(0)
    #expect(outcome.error.contains("the proxy \(proxy.url): \(path):1 says so"))
    #expect(!outcome.error.contains("w0rd"))
    #expect(try allCameThrough(proxy))
  }

  @Test(
    "what is configured and turned off for a run says once what that costs",
    arguments: ["proxy http://127.0.0.1:1", "tor yes", "tor-socks 127.0.0.1:1"])
  func turnedOff(_ line: String) throws {
    let file = try configure("# own", line)
    let refused = try bench.pull("--json", "--give-up-after", "1")
    try refused.expectFailure("proxy-unreachable", 3)
    #expect(try bench.origin().entries.isEmpty)
    let outcome = try bench.pull("--json", "--no-proxy")
    outcome.expect(0)
    let notes = try outcome.events("note").compactMap(\.message)
    let cost = "every source, manifests and mirrors included, sees the address of this machine"
    let what = line.hasPrefix("tor") ? "Tor, which" : "the proxy that"
    #expect(notes.filter { $0.contains(cost) } == ["without \(what) \(file):2 names, \(cost)"])
    // Other commands say it too.
    for words in [
      ["inspect", bench.server.base + "manifest"], ["integrity", "sample", bench.directory],
    ] {
      let off = try bench.fetchres.run(words + ["--no-proxy"])
      off.expect(0)
      #expect(off.error.contains(cost), "\(off)")
    }
    // A file that says so for good says nothing.
    _ = try configure("no-proxy")
    #expect(try !bench.pull("--json").output.contains(cost))
  }

  @Test(
    "what the configuration says counts for every command that asks others",
    arguments: [nil, "[origin example.org/thing]"])
  func everyCommand(_ section: String?) throws {
    let proxy = try ProxyProcess(.tinyproxy)
    try bench.fetchres.run("trust", "add", bench.site.key).expect(0)
    try bench.pull().expect(0)
    let head = try bench.scratch.write("head", try Disk.read("\(bench.site.path)/checkpoint"))
    for version in ["v2", "v3"] { try bench.site.publish(randomBytes(1_000), version: version) }
    try bench.origin().forget()
    _ = try configure((section.map { [$0] } ?? []) + ["proxy \(proxy.url)"])
    let base = bench.server.base
    for words in [
      bench.pulling(), ["inspect", base + "manifest"],
      ["integrity", "ingest", base + "checkpoint"], ["integrity", "sample", bench.directory],
      ["publish", "--check", base, "--site", bench.site.path, "--live"],
      [
        "publish", "--recover", base, "--site", bench.scratch("again"), "--key",
        bench.site.keyFile,
      ],
    ] {
      let outcome = try bench.fetchres.run(words)
      outcome.expect(0)
      #expect(try allCameThrough(proxy), "\(words)")
    }
    // Where nothing has to be asked, nothing is.
    try bench.fetchres.run("integrity", "ingest", head).expect(0)
    let direct = try bench.origin().entries.contains { $0.request.fields["via"] == nil }
    #expect(!direct)
  }

  @Test("a section counts for its origin where nothing else tells which one a URL is of")
  func unknownOrigin() throws {
    let proxy = try ProxyProcess(.tinyproxy)
    let base = bench.server.base
    // Neither trusted nor in the state: by the name alone that a publisher of this URL would choose.
    _ = try configure("[origin 127.0.0.1]", "proxy \(proxy.url)")
    for (words, code) in [
      (["pull", base + "manifest", "-d", bench.directory], 5), (["inspect", base + "manifest"], 0),
      (["integrity", "ingest", base + "checkpoint"], 5),
      (["publish", "--check", base, "--site", bench.site.path, "--live"], 0),
    ] as [([String], Int32)] {
      // The site knows better which origin is checked.
      let isCheck = words[0] == "publish"
      try bench.fetchres.run(words).expect(code)
      #expect(try allCameThrough(proxy) != isCheck, "\(words)")
    }
    let outcome = try bench.fetchres.run(
      ["inspect", base + "manifest"], variables: ["HOME": nil, "XDG_STATE_HOME": nil])
    outcome.expect(0)
    #expect(try allCameThrough(proxy))
    // Nothing is believed of the origin for that.
    #expect(!Disk.exists(bench.directory))
  }

  @Test("what is checked or recovered is known to be of an origin without being trusted")
  func unknownSite() throws {
    let proxy = try ProxyProcess(.tinyproxy)
    let base = bench.server.base
    _ = try configure("[origin example.org/thing]", "proxy \(proxy.url)")
    let password = try bench.scratch.write("password", Array("geheim\n".utf8))
    for words in [
      ["--check", base, "--site", bench.site.path, "--live"],
      ["--recover", base, "--site", bench.scratch("again"), "--key", bench.site.keyFile],
    ] {
      try bench.fetchres.run(["publish"] + words).expect(0)
      #expect(try allCameThrough(proxy), "\(words)")
    }
    // The name of a key under a password is no secret, and nobody is asked for it.
    let locked = bench.scratch("locked.key")
    try bench.fetchres.run(
      "keygen", "example.org/thing", "--out", locked, "--password-file", password
    ).expect(0)
    let refused = try bench.fetchres.run(
      "publish", "--recover", base, "--site", bench.scratch("other"), "--key", locked,
      "--password-file", password)
    #expect(refused.exitCode != 0)
    #expect(try allCameThrough(proxy))
  }

  @Test("where it cannot be read whom the user trusts, nothing is asked directly")
  func hiddenTrust() throws {
    let path = try bench.scratch.write("state/fetchres/trust", Array("junk\n".utf8))
    let words = ["inspect", bench.server.base + "manifest"]
    try bench.fetchres.run(words).expect(0)
    try bench.origin().forget()
    _ = try configure("[origin example.org/thing]", "proxy http://127.0.0.1:1")
    try bench.fetchres.run(words).expectRefusal(6, "\(path) is damaged")
    #expect(try bench.origin().entries.isEmpty)
  }

  private func configure(_ lines: [String]) throws -> String {
    try bench.fetchres.scratch.write(
      "config/fetchres/config", Array(lines.map { $0 + "\n" }.joined().utf8))
  }

  @Test("what the configuration says for pulls is not what a publisher signs")
  func mirrorsOfPulls() throws {
    _ = try configure("mirror https://private.example/")
    try bench.site.publish(randomBytes(1_000), version: "v2")
    try bench.refresh().expect(0)
    #expect(try bench.site.field("mirror") == nil)
  }

  @Test("a proxy that comes up while a pull waits for it is used, and nothing is asked before")
  func late() throws {
    let port = try ProxyProcess.freePort()
    let child = try bench.fetchres.start(
      bench.pulling(["--json", "--proxy", "http://127.0.0.1:\(port)"]))
    let hasFailed = child.waitForOutput(within: Fetchres.patience) {
      $0.contains("proxy-unreachable")
    }
    #expect(hasFailed)
    #expect(try bench.origin().entries.isEmpty)
    let proxy = try ProxyProcess(.tinyproxy, port: port)
    try Outcome(of: child).expect(0)
    try bench.expectComplete(release)
    #expect(try allCameThrough(proxy))
  }
}
