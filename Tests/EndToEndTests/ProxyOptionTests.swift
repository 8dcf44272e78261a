import System
import Testing

/// Which way out a pull takes, and how it says so.
@Suite struct ProxyOptionTests {
  private static func bench() throws -> (Workbench, Release) {
    let bench = try Workbench()
    return (bench, try bench.site.publish(randomBytes(1_000)))
  }

  private static func pull(
    _ bench: Workbench, _ more: [String], _ variables: [String: String?] = [:]
  ) throws -> Outcome {
    try bench.fetchres.run(
      bench.pulling(["--verbose", "--give-up-after", "1"] + more), variables: variables)
  }

  private static func deadProxy(_ scheme: String = "http") throws -> String {
    "\(scheme)://127.0.0.1:\(try ProxyProcess.freePort())"
  }

  @Test(
    "the command line comes first, then the environment",
    arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
  func order(_ variable: String) throws {
    let (bench, release) = try Self.bench()
    let (named, other) = (try Self.deadProxy(), try Self.deadProxy("socks5h"))
    let found = try Self.pull(bench, [], [variable: named])
    found.expectRefusal(3, "the proxy \(named): \(variable) says so", "no connection to the proxy")
    let chosen = try Self.pull(bench, ["--proxy", other], [variable: named, "NO_PROXY": "*"])
    chosen.expectRefusal(3, "the proxy \(other): --proxy says so")
    #expect(try bench.origin().entries.isEmpty)
    let none = try Self.pull(bench, ["--no-proxy"], [variable: named])
    none.expect(0)
    #expect(none.error.contains("no proxy: --no-proxy says so"))
    #expect(none.error.contains("sees the address of this machine"))
    try bench.expectComplete(release)
  }

  @Test(
    "variables that are for other URLs, empty, or excepted mean no proxy",
    arguments: [
      (["https_proxy": "http://127.0.0.1:1"], "none is configured"),
      (["HTTPS_PROXY": "http://127.0.0.1:1"], "none is configured"),
      (["HTTP_PROXY": "http://127.0.0.1:1"], "none is configured"),
      (["http_proxy": "", "ALL_PROXY": "http://127.0.0.1:1"], "none is configured"),
      ([:], "none is configured"),
      (
        ["http_proxy": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1"],
        "NO_PROXY excepts 127.0.0.1 from http_proxy"
      ),
      (
        ["ALL_PROXY": "http://127.0.0.1:1", "no_proxy": "*", "NO_PROXY": "x"],
        "no_proxy excepts 127.0.0.1 from ALL_PROXY"
      ),
    ] as [([String: String], String)])
  func noProxy(_ variables: [String: String], _ words: String) throws {
    let (bench, release) = try Self.bench()
    let outcome = try Self.pull(bench, [], variables.mapValues { $0 as String? })
    outcome.expect(0)
    #expect(outcome.error.contains("no proxy: \(words)"), "\(outcome)")
    try bench.expectComplete(release)
  }

  @Test("--no-proxy where there is none says nothing of what it costs")
  func nothingLost() throws {
    let (bench, _) = try Self.bench()
    let outcome = try Self.pull(bench, ["--no-proxy"])
    outcome.expect(0)
    #expect(!outcome.error.contains("sees the address"))
  }

  @Test(
    "proxies that would have names resolved here are refused, wherever they stand",
    arguments: ["socks5", "socks4", "socks4a"])
  func localNames(_ scheme: String) throws {
    let (bench, _) = try Self.bench()
    let proxy = "\(scheme)://user:passw0rd@127.0.0.1:1080"
    for outcome in [
      try Self.pull(bench, ["--proxy", proxy]), try Self.pull(bench, [], ["ALL_PROXY": proxy]),
      try Self.pull(bench, [], ["https_proxy": proxy]),
    ] {
      outcome.expectRefusal(2, "hint: socks5h:// has the proxy resolve them")
      #expect(!outcome.error.contains("passw0rd"))
    }
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test("ways out exclude each other")
  func exclusive() throws {
    let (bench, _) = try Self.bench()
    for options in [
      ["--proxy", "http://h:1", "--no-proxy"], ["--proxy", "http://h:1", "--tor"],
      ["--tor", "--no-proxy"], ["--tor-socks", "127.0.0.1:9", "--no-proxy"],
      ["--proxy-auth-file", bench.site.keyFile, "--no-proxy"],
      ["--proxy-auth-file", bench.site.keyFile],
    ] { try Self.pull(bench, options).expectRefusal(2) }
  }

  @Test(
    "user and password come from a file",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need),
    arguments: ProxyProcess.Kind.withPassword)
  func authFile(_ kind: ProxyProcess.Kind) throws {
    let (bench, release) = try Self.bench()
    // tinyproxy cannot be configured with a colon in it.
    let password = kind == .tinyproxy ? "passw0rd" : "pass:w0rd"
    let proxy = try ProxyProcess(kind, password: password)
    let file = try bench.scratch.write("auth", Array("user:\(password)\n".utf8))
    let outcome = try Self.pull(bench, ["--proxy", proxy.url, "--proxy-auth-file", file])
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(!outcome.error.contains("w0rd") && outcome.error.contains("proxy \(proxy.url):"))
    for wrong in ["", "\n", "user\n", ":x\n", "user:x\nuser:y\n"] {
      try bench.scratch.write("auth", Array(wrong.utf8))
      try Self.pull(bench, ["--proxy", proxy.url, "--proxy-auth-file", file]).expectRefusal(
        2, "--proxy-auth-file")
    }
    try Self.pull(bench, ["--proxy", proxy.url, "--proxy-auth-file", "/no/such"]).expectRefusal(6)
  }

  @Test(
    "a password on the command line works, with a warning, and is not there to be listed",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func passwordInURL() throws {
    let (bench, release) = try Self.bench()
    let proxy = try ProxyProcess(.microsocks, password: "s3cret")
    let outcome = try Self.pull(bench, ["--proxy", proxy.url("user:s3cret")])
    outcome.expect(0)
    #expect(
      outcome.error.contains("--proxy-auth-file reads it") && !outcome.error.contains("s3cret"))
    try bench.expectComplete(release)
  }

  @Test("an onion address without Tor asks nobody")
  func onion() throws {
    let bench = try Workbench()
    let outcome = try bench.fetchres.run([
      "pull", "http://abcdefgh.onion/manifest", "--key", bench.site.key, "-d", bench.directory,
      "--json", "--give-up-after", "1",
    ])
    try outcome.expectFailure("unreachable", 3, "only Tor reaches", "--tor")
  }

  @Test("Tor that is not there is waited for, and nothing is asked around it")
  func noTor() throws {
    let (bench, _) = try Self.bench()
    let port = try ProxyProcess.freePort()
    let outcome = try Self.pull(bench, ["--tor-socks", "127.0.0.1:\(port)"])
    outcome.expectRefusal(3, "everything goes through Tor, at 127.0.0.1:\(port)")
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test("inspect goes by the environment")
  func inspect() throws {
    let (bench, _) = try Self.bench()
    let outcome = try bench.fetchres.run(
      ["inspect", bench.server.base + "manifest"], variables: ["http_proxy": try Self.deadProxy()])
    outcome.expectRefusal(3, "no connection to the proxy")
    #expect(try bench.origin().entries.isEmpty)
  }
}
