import Glibc
import Storage
import System
import Testing

/// Client certificates against an nginx that demands one which leads, over an authority in between, to
/// its root.
@Suite(.enabled(if: GuardedServer.isAvailable, GuardedServer.need))
struct IdentityTests {
  let bench: Workbench
  let desk: CertificateDesk
  let release: Release
  /// Those that were started run until the test ends.
  let servers = Monitor<[GuardedServer]>([])

  init() throws {
    bench = try Workbench()
    desk = try CertificateDesk()
    release = try bench.site.publish(randomBytes(300_000))
    try desk.issueServer("server")
    try desk.issue("me", by: "middle")
  }

  func server(clients: String = "on", _ more: String = "") throws -> GuardedServer {
    let server = try GuardedServer(desk, root: bench.site.path, clients: clients, more)
    servers.look { $0.append(server) }
    return server
  }

  func pulling(_ server: GuardedServer, host: String = "127.0.0.1", _ more: [String]) -> [String] {
    [
      "pull", "\(server.base(host))manifest", "--key", bench.site.key, "-d", bench.directory,
      "--cacert", desk("root.pem"), "--give-up-after", "20", "--retry-now",
    ] + more
  }

  func take(
    _ name: String = "me", as stored: String = "me", chain: [String] = ["middle"],
    _ more: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try bench.fetchres.run(
      [
        "identity", "import", try desk.export(name, chain: chain), "--name", stored,
        "--password-file", try desk.password(),
      ] + more, sourceLocation: sourceLocation
    ).expect(0, sourceLocation: sourceLocation)
  }

  // MARK: Let in, or not

  @Test("with the certificate and those of its issuers the server lets the pull in")
  func letIn() throws {
    try take("me", "--no-password")
    let server = try server()
    let outcome = try bench.fetchres.run(pulling(server, ["--identity", "me"]))
    outcome.expect(0)
    try bench.expectComplete(release)
    let visits = try server.visits()
    #expect(
      visits.count >= 3 && visits.allSatisfy { $0.verdict == "SUCCESS" && $0.client == "CN=me" })
  }

  @Test("without one the server says no, and the run says what to do")
  func notLetIn() throws {
    let outcome = try bench.fetchres.run(pulling(try server(), ["--json"]))
    try outcome.expectFailure("http-status", 4, "HTTP 400", "fetchres identity import")
    #expect(!Disk.exists(bench.directory))
  }

  @Test("a certificate whose issuer is missing does not lead to the root")
  func missingIssuer() throws {
    try take(chain: [], "--no-password")
    let outcome = try bench.fetchres.run(pulling(try server(), ["--json", "--identity", "me"]))
    try outcome.expectFailure("http-status", 4, "HTTP 400")
  }

  @Test("a key under a password is opened by it, and by no other")
  func password() throws {
    try take()
    let server = try server()
    let arguments = pulling(server, ["--identity", "me", "--password-file"])
    try bench.fetchres.run(arguments + [try desk.password("nope")])
      .expectRefusal(2, "the password of the identity 'me' is wrong")
    #expect(try server.visits().isEmpty)
    try bench.fetchres.run(pulling(server, ["--identity", "me"]))
      .expectRefusal(2, "nobody to ask for the password of the identity 'me'")
    try bench.fetchres.run(arguments + [try desk.password()]).expect(0)
    try bench.expectComplete(release)
  }

  @Test("the identity for a host is used there unasked, and nowhere else")
  func forHost() throws {
    try take("me", "--no-password", "--for", "127.0.0.1")
    let server = try server()
    try bench.fetchres.run(pulling(server, host: "localhost", ["--json"]))
      .expectFailure("http-status", 4, "HTTP 400")
    try bench.fetchres.run(pulling(server, [])).expect(0)
    try bench.expectComplete(release)
    try take("me", as: "too", "--no-password", "--for", "127.0.0.1:\(server.port)")
    try bench.fetchres.run(pulling(server, [])).expectRefusal(2, "several identities", "me, too")
  }

  @Test("an identity that is not there, or a URL without TLS, is said before the network is used")
  func usage() throws {
    try bench.fetchres.run(pulling(try server(), ["--identity", "who"]))
      .expectRefusal(2, "there is no identity 'who'")
    try take("me", "--no-password")
    try bench.pull("--identity", "me").expectRefusal(2, "is no https URL")
    #expect(try bench.origin().entries.isEmpty)
  }

  // MARK: What is stored

  @Test("it is stored for the user alone, encrypted, and shown without its key")
  func stored() throws {
    try take("me", "--for", "Data.Example.org", "--for", "127.0.0.1:8443")
    let directory = bench.scratch("state/fetchres/identities")
    #expect(Disk.permissions(directory) == 0o700)
    #expect(Disk.permissions("\(directory)/me.identity") == 0o600)
    let text = String(decoding: try Disk.read("\(directory)/me.identity"), as: UTF8.self)
    #expect(text.contains("BEGIN ENCRYPTED PRIVATE KEY") && !text.contains("BEGIN PRIVATE KEY"))
    for arguments in [["identity", "show"], ["identity", "show", "me", "--json"]] {
      let shown = try bench.fetchres.run(arguments)
      shown.expect(0)
      for word in ["CN = me", "CN = middle", "data.example.org", "127.0.0.1:8443", "20"] {
        #expect(shown.output.contains(word), "\(shown.testDescription)")
      }
      #expect(!shown.output.contains("KEY") && !shown.output.contains("s3cret"))
    }
  }

  @Test(
    "an import that fails leaves what is there, one that succeeds replaces it and keeps its hosts")
  func replacing() throws {
    try take("me", "--for", "data.example.org")
    let record = bench.scratch("state/fetchres/identities/me.identity")
    let before = try Disk.read(record)
    let bad = try desk.scratch.write("bad.p12", [1, 2, 3])
    for arguments in [
      [bad, "--password-file", try desk.password()],
      [desk("me.p12"), "--password-file", try desk.password("nope")],
    ] {
      try bench.fetchres.run(["identity", "import", "--name", "me"] + arguments).expect(2)
      #expect(try Disk.read(record) == before)
    }
    try desk.issue("second", by: "middle")
    try take("second")
    let shown = try bench.fetchres.run("identity", "show", "--json").output
    #expect(shown.contains("CN = second") && shown.contains("data.example.org"))
  }

  @Test("clearing removes it and says so, and then there is none")
  func clearing() throws {
    try take()
    let outcome = try bench.fetchres.run("identity", "clear", "me")
    outcome.expect(0)
    #expect(outcome.error.contains("the identity 'me' is removed"))
    #expect(Disk.names(in: bench.scratch("state/fetchres/identities")).isEmpty)
    try bench.fetchres.run("identity", "clear", "me").expectRefusal(1, "there is no identity")
    try bench.fetchres.run("identity", "show", "me").expectRefusal(1, "there is no identity")
  }

  @Test("a record that is damaged, or that others can read, is not used, and costs no attempt")
  func damaged() throws {
    try take()
    let record = bench.scratch("state/fetchres/identities/me.identity")
    let arguments = pulling(
      try server(), ["--identity", "me", "--password-file", try desk.password()])
    let whole = try Disk.read(record)
    try Disk.flip(record, at: 300)
    for _ in 0..<4 { try bench.fetchres.run(arguments).expectRefusal(2, "is damaged") }
    try Disk.write(record, whole)
    try #require(chmod(record, 0o640) == 0)
    try bench.fetchres.run(arguments).expectRefusal(6, "others can read the identity")
    try #require(chmod(record, 0o600) == 0)
    try bench.fetchres.run(arguments).expect(0)
  }

  // MARK: Wrong passwords

  /// So many wrong passwords until now, the wait after the last of them over.
  func pretend(_ failures: UInt32) throws {
    try Disk.write(
      bench.scratch("state/fetchres/identities/wrong/me.ladder"),
      LadderRecord(
        failures: failures, now: Clocks.sinceBoot() - 8 * 86_400, boot: BootIdentity.current()
      ).bytes)
  }

  @Test("a wrong password makes the next attempt wait, also one with the right password")
  func ladder() throws {
    try take()
    let arguments = pulling(try server(), ["--identity", "me", "--password-file"])
    let (wrong, right) = (try desk.password("nope"), try desk.password())
    for _ in 0..<2 {
      try bench.fetchres.run(arguments + [wrong]).expectRefusal(2, "is wrong")
    }
    try pretend(6)
    try bench.fetchres.run(arguments + [wrong]).expectRefusal(2, "is wrong")
    try bench.fetchres.run(arguments + [right])
      .expectRefusal(1, "7 wrong passwords in a row", "the next attempt is in")
    #expect(
      try Disk.read(bench.scratch("state/fetchres/identities/wrong/me.ladder")).count == 29)
    try pretend(7)
    try bench.fetchres.run(arguments + [right]).expect(0)
    #expect(!Disk.exists(bench.scratch("state/fetchres/identities/wrong/me.ladder")))
  }

  @Test("it is removed after as many wrong passwords as were chosen, and not before")
  func wiping() throws {
    try take()
    try bench.fetchres.run("identity", "wipe-after", "5").expect(0)
    #expect(try bench.fetchres.run("identity", "wipe-after").line == "5")
    try bench.fetchres.run("identity", "wipe-after", "7").expect(2)
    let record = bench.scratch("state/fetchres/identities/me.identity")
    let wrong = pulling(
      try server(), ["--identity", "me", "--password-file", try desk.password("nope")])
    try pretend(3)
    try bench.fetchres.run(wrong).expectRefusal(2, "is wrong")
    #expect(Disk.exists(record))
    try pretend(4)
    try bench.fetchres.run(wrong).expectRefusal(1, "is removed: 5 wrong passwords in a row")
    #expect(!Disk.exists(record))
    try bench.fetchres.run("identity", "wipe-after", "off").expect(0)
    #expect(try bench.fetchres.run("identity", "wipe-after").line == "off")
  }

  // MARK: During a pull

  @Test("a pull whose identity is cleared loses every connection that it made with it")
  func clearedMeanwhile() throws {
    try take("me", "--no-password")
    let server = try server()
    let pull = try bench.fetchres.start(
      pulling(server, ["--identity", "me", "--json", "--limit-rate", "20K"]))
    #expect(pull.waitForOutput(within: Fetchres.patience) { $0.contains(#""event":"progress""#) })
    try bench.fetchres.run("identity", "clear", "me").expect(0)
    let outcome = try Outcome(of: pull)
    #expect(outcome.exitCode != 0)
    #expect(outcome.output.contains("the identity 'me' was cleared: its connections are closed"))
    try bench.expectUnfinished(release)
    // Who came back came back as nobody, over other connections.
    let visits = try server.visits()
    let known = Set(visits.filter { $0.verdict == "SUCCESS" }.map(\.connection))
    let unknown = visits.filter { $0.verdict == "NONE" }
    #expect(!unknown.isEmpty && unknown.allSatisfy { !known.contains($0.connection) })
  }

  @Test("a pull whose identity is replaced goes on with the new one alone")
  func replacedMeanwhile() throws {
    try take("me", "--no-password")
    try desk.issue("second", by: "middle")
    let server = try server()
    let pull = try bench.fetchres.start(
      pulling(server, ["--identity", "me", "--json", "--limit-rate", "40K"]))
    #expect(pull.waitForOutput(within: Fetchres.patience) { $0.contains(#""event":"progress""#) })
    try take("second", "--no-password")
    let outcome = try Outcome(of: pull)
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(outcome.output.contains("the identity 'me' was replaced: its connections are closed"))
    let visits = try server.visits()
    #expect(visits.allSatisfy { $0.verdict == "SUCCESS" })
    let old = Set(visits.filter { $0.client == "CN=me" }.map(\.connection))
    let new = Set(visits.filter { $0.client == "CN=second" }.map(\.connection))
    #expect(!old.isEmpty && !new.isEmpty && old.isDisjoint(with: new))
  }
}
