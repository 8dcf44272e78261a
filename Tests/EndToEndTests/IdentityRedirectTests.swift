import System
import Testing

/// Where a redirect leads to another host, port or scheme, neither certificate nor credentials follow.
@Suite(.enabled(if: GuardedServer.isAvailable, GuardedServer.need))
struct IdentityRedirectTests {
  let bench: Workbench
  let desk: CertificateDesk
  let release: Release

  init() throws {
    bench = try Workbench()
    desk = try CertificateDesk()
    release = try bench.site.publish(randomBytes(300_000))
    try desk.issueServer("server")
    try desk.issue("me", by: "root")
    try bench.fetchres.run(
      "identity", "import", try desk.export("me"), "--name", "me", "--for", "127.0.0.1",
      "--no-password", "--password-file", try desk.password()
    ).expect(0)
  }

  func pull(_ manifest: String, _ more: String...) throws -> Outcome {
    try bench.fetchres.run(
      [
        "pull", manifest, "--key", bench.site.key, "-d", bench.directory, "--json", "--cacert",
        desk("root.pem"), "--header", "Authorization: Bearer b3arer", "--give-up-after", "5",
      ] + more)
  }

  /// Fails unless the server was asked, and saw nobody's certificate or credentials.
  func expectNobody(
    _ server: GuardedServer, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let visits = try server.visits()
    #expect(!visits.isEmpty, sourceLocation: sourceLocation)
    #expect(
      visits.allSatisfy {
        $0.verdict == "NONE" && $0.client == "-" && $0.authorization == "-"
          && !$0.target.contains("t0ken")
      }, "\(visits)", sourceLocation: sourceLocation)
  }

  @Test("another port")
  func otherPort() throws {
    // It would take the certificate if it were shown.
    let second = try GuardedServer(desk, root: bench.site.path, clients: "optional")
    let first = try GuardedServer(
      desk, root: bench.site.path,
      "location /releases/ { return 302 https://127.0.0.1:\(second.port)$uri; }")
    try pull("\(first.base())manifest?key=t0ken").expect(0)
    try bench.expectComplete(release)
    try expectNobody(second)
    let visits = try first.visits()
    #expect(
      visits.allSatisfy { $0.verdict == "SUCCESS" && $0.authorization == "Bearer b3arer" })
  }

  @Test("another host, even where it is the same server")
  func otherHost() throws {
    let server = try GuardedServer(
      desk, root: bench.site.path, clients: "optional",
      """
      if ($host = 127.0.0.1) { set $away 1; }
      if ($uri !~ ^/releases/) { set $away 0; }
      if ($away = 1) { return 302 https://localhost:$server_port$uri; }
      """)
    try pull("\(server.base())manifest?key=t0ken").expect(0)
    try bench.expectComplete(release)
    let visits = try server.visits()
    let (known, unknown) = (
      visits.filter { $0.verdict == "SUCCESS" }, visits.filter { $0.verdict == "NONE" }
    )
    #expect(known.allSatisfy { $0.target.hasSuffix("?key=t0ken") } && !known.isEmpty)
    #expect(unknown.allSatisfy { $0.authorization == "-" && !$0.target.contains("t0ken") })
    #expect(unknown.contains { $0.status == 206 || $0.status == 200 })
    // No connection served both.
    #expect(Set(known.map(\.connection)).isDisjoint(with: unknown.map(\.connection)))
  }

  @Test("another scheme: https leads to no http, and http to https as nobody")
  func otherScheme() throws {
    let second = try GuardedServer(desk, root: bench.site.path, clients: "optional")
    let base = second.base().dropLast()
    try bench.origin().bend { request, response in
      guard request.path.hasPrefix("/releases") else { return }
      response = OriginResponse(302, [])
      response["Location"] = base + String(request.path)
    }
    try pull("\(bench.server.base)manifest?key=t0ken").expect(0)
    try bench.expectComplete(release)
    try expectNobody(second)

    let plain = try Origin(bench.site.path)
    let down = try GuardedServer(
      desk, root: bench.site.path, "location / { return 302 \(plain.base)manifest; }")
    try pull("\(down.base())manifest").expectFailure("redirect-refused", 4, "from https to http")
    #expect(plain.entries.isEmpty)
    withExtendedLifetime(down) {}
  }
}
