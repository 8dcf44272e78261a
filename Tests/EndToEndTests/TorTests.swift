import Glibc
import System
import Testing

/// How a pull waits for Tor, and says how far it is. What listens as Tor is a SOCKS proxy of others, or
/// one that lets nothing through.
@Suite struct TorTests {
  private static func bench() throws -> (Workbench, Release) {
    let bench = try Workbench()
    return (bench, try bench.site.publish(randomBytes(1_000)))
  }

  private static func pull(
    _ bench: Workbench, socks: String, _ control: ControlPort? = nil, giveUpAfter: Int = 60,
    _ more: [String] = []
  ) throws -> Outcome {
    let options =
      [
        "--json", "--tor-socks", socks, "--give-up-after", "\(giveUpAfter)", "--connect-timeout",
        "2",
      ]
      + (control.map { ["--tor-control", $0.address] } ?? [])
    return try bench.fetchres.run(bench.pulling(options + more))
  }

  /// Takes a connection and a greeting, and lets nothing through: a tor that is on its way.
  private static func silentSOCKS() throws -> ScriptedPeer {
    try ScriptedPeer([[5, 0]], holds: true)
  }

  /// The percent of the events of the wait, nil where they have none; every line is of the schema.
  private static func percents(
    _ outcome: Outcome, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [Int?] {
    let schema = try EventSchema()
    for line in outcome.output.split(separator: "\n") {
      let fault = try schema.fault(line)
      #expect(fault == nil, "\(line)", sourceLocation: sourceLocation)
    }
    return try outcome.events("phase").filter { $0.phase == "starting-tor" }.map(\.percent)
  }

  // MARK: By the control port

  @Test(
    "the percent that tor tells are shown until it is ready, and then the pull begins",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func rising() throws {
    let (bench, release) = try Self.bench()
    let tor = try ProxyProcess(.microsocks)
    let control = try ControlPort(
      .percent(0), .percent(40), .percent(40), .percent(95), .percent(100))
    let outcome = try Self.pull(bench, socks: tor.address, control)
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(try Self.percents(outcome) == [nil, 0, 40, 95])
    // Nobody is asked before it is ready, and it is not asked again.
    let kinds = try outcome.events().map(\.event)
    #expect(kinds.firstIndex(of: "manifest") ?? 0 > kinds.firstIndex(of: "phase") ?? .max)
    #expect(control.heard.filter { $0.hasPrefix("GETINFO") }.count == 5)
    #expect(try outcome.events("route").map(\.message).contains("tor is ready"))
  }

  @Test("a tor that does not get through has stalled, and nobody is asked around it")
  func stalled() throws {
    let (bench, _) = try Self.bench()
    let socks = try Self.silentSOCKS()
    for control in [try ControlPort(.percent(85)), nil] {
      let outcome = try Self.pull(bench, socks: socks.address, control, giveUpAfter: 2)
      try outcome.expectFailure(
        "tor-stalled", 3, "tor did not get through in 2 s; this network may be blocking it",
        "run again to resume")
      #expect(try Self.percents(outcome) == (control == nil ? [nil] : [nil, 85]))
    }
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test(
    "a run that stalled is gone on with by the next one",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func resumed() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(40 * Site.blockSize))
    _ = try bench.interruptPull(release, upTo: 20)
    let silent = try Self.silentSOCKS()
    let stalled = try Self.pull(bench, socks: silent.address, giveUpAfter: 1)
    try stalled.expectFailure("tor-stalled", 3)
    try bench.expectUnfinished(release)
    let tor = try ProxyProcess(.microsocks)
    let outcome = try Self.pull(bench, socks: tor.address)
    outcome.expect(0)
    try bench.expectComplete(release)
    #expect(try #require(outcome.last().fetched) < Int64(release.bytes.count))
  }

  @Test(
    "a tor that begins again while it is waited for is heard again",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func restarted() throws {
    let (bench, _) = try Self.bench()
    let socks = try Self.silentSOCKS()
    let control = try ControlPort(.percent(50), .close, .percent(10), .percent(20))
    let outcome = try Self.pull(bench, socks: socks.address, control, giveUpAfter: 14)
    try outcome.expectFailure("tor-stalled", 3)
    #expect(try Self.percents(outcome) == [nil, 50, 10, 20])
  }

  // MARK: Authentication

  @Test(
    "the control port is asked as it wants to be: with nothing, a password, or its cookie",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func authentication() throws {
    let (bench, _) = try Self.bench()
    let tor = try ProxyProcess(.microsocks)
    let cookie = randomBytes(32)
    let cookieFile = try bench.scratch.write("a \"cookie\"", cookie)
    let passwordFile = try bench.scratch.write("password", Array("s3cret \"p\\w\n".utf8))
    let named = cookieFile.replacing("\"", with: "\\\"")
    let ports: [(ControlPort, [String])] = [
      (try ControlPort(.none, .percent(7), .percent(100)), []),
      (
        try ControlPort(.password("s3cret \"p\\w"), .percent(7), .percent(100)),
        ["--tor-password-file", passwordFile]
      ),
      (
        try ControlPort(.cookie(file: named, bytes: cookie), .percent(7), .percent(100)), []
      ),
    ]
    let hunt = SecretHunt(["s3cret", hex(cookie), hex(cookie).uppercased()])
    for (port, options) in ports {
      let outcome = try Self.pull(bench, socks: tor.address, port, options)
      outcome.expect(0)
      #expect(try Self.percents(outcome) == [nil, 7], "\(outcome)")
      #expect(hunt.found(in: outcome).isEmpty)
    }
    // The cookie itself is told to nobody, and kept nowhere.
    #expect(!ports[2].0.heard.joined().contains(hex(cookie)))
    #expect(
      try hunt.found(below: bench.fetchres.home) { $0 == "password" || $0.contains("cookie") }
        .isEmpty)
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(
    "whoever only listens where tor should be learns nothing of the file that it names",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func impostor() throws {
    let (bench, _) = try Self.bench()
    let tor = try ProxyProcess(.microsocks)
    let file = try bench.scratch.write("secret", randomBytes(32))
    let port = try ControlPort(.cookie(file: file, bytes: randomBytes(32)), .percent(100))
    let outcome = try Self.pull(bench, socks: tor.address, port)
    outcome.expect(0)
    #expect(outcome.output.contains("does not know the cookie"))
    #expect(!port.heard.contains { $0.hasPrefix("AUTHENTICATE") })
  }

  // MARK: Control ports that are of no use

  private static let faults: [(ControlPort.Answer, words: String)] = [
    (.raw("HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak the language"),
    (.raw("250 OK\r\n"), "does not say"),
    (.raw("514 Authentication required\r\n"), "does not say"),
    (.raw(String(repeating: "250-x\r\n", count: 100)), "sends more than 32 lines"),
    (.raw(String(repeating: "a", count: 100_000)), "sends a line of more than 8192 bytes"),
    (.raw("250-x"), "does not answer within 5 s"),
  ]

  @Test(
    "a control port that talks nonsense is left alone, that is said once, and Tor is used",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need), arguments: faults.indices,
    [true, false])
  func useless(_ index: Int, _ isFirstAnswer: Bool) throws {
    let (fault, words) = Self.faults[index]
    let (bench, release) = try Self.bench()
    let tor = try ProxyProcess(.microsocks)
    let port = try isFirstAnswer ? ControlPort(greeting: fault, .percent(1)) : ControlPort(fault)
    let outcome = try Self.pull(bench, socks: tor.address, port)
    outcome.expect(0)
    try bench.expectComplete(release)
    let notes = try outcome.events("note").compactMap(\.message)
    let said = notes.filter { $0.contains("the control port of tor at \(port.address) ") }
    #expect(said.count == 1 && said.first?.contains(words) == true, "\(outcome)")
  }

  @Test(
    "a control port that takes no password, or another one, is of no use either",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func refused() throws {
    let (bench, release) = try Self.bench()
    let tor = try ProxyProcess(.microsocks)
    let port = try ControlPort(.password("s3cret"), .percent(1))
    let none = try Self.pull(bench, socks: tor.address, port)
    none.expect(0)
    #expect(none.output.contains("asks for a password, which --tor-password-file gives"))
    let file = try bench.scratch.write("password", Array("wr0ng\n".utf8))
    let wrong = try Self.pull(bench, socks: tor.address, port, ["--tor-password-file", file])
    wrong.expect(0)
    #expect(wrong.output.contains("does not let us ask (515)"))
    // What the port says of it repeats what it was told.
    #expect(SecretHunt(["wr0ng", "7772306e67"]).found(in: wrong).isEmpty)
    let cookie = try ControlPort(.cookie(file: "/no/such/file", bytes: []), .percent(1))
    let unread = try Self.pull(bench, socks: tor.address, cookie)
    unread.expect(0)
    #expect(unread.output.contains("/no/such/file, which cannot be read"))
    try bench.expectComplete(release)
  }

  @Test(
    "a control port that breaks off, or is not there, does not stop a tor that is through",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func gone() throws {
    let (bench, release) = try Self.bench()
    let tor = try ProxyProcess(.microsocks)
    for port in [try ControlPort(greeting: .close, .percent(1)), try ControlPort(.close)] {
      try Self.pull(bench, socks: tor.address, port).expect(0)
    }
    try Self.pull(
      bench, socks: tor.address, nil,
      ["--tor-control", "127.0.0.1:\(try ProxyProcess.freePort())"]
    ).expect(0)
    try bench.expectComplete(release)
  }

  // MARK: Without one

  @Test("a tor that is not there is waited for, and then the network's fault")
  func absent() throws {
    let (bench, _) = try Self.bench()
    let address = "127.0.0.1:\(try ProxyProcess.freePort())"
    let outcome = try Self.pull(bench, socks: address, giveUpAfter: 1)
    try outcome.expectFailure("proxy-unreachable", 3, "no tor is at \(address)", "--tor-socks")
    #expect(try Self.percents(outcome) == [nil])
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test(
    "a tor that is started while a pull waits for it is used",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func late() throws {
    let (bench, release) = try Self.bench()
    let port = try ProxyProcess.freePort()
    let child = try bench.fetchres.start(
      bench.pulling(["--json", "--tor-socks", "127.0.0.1:\(port)"]))
    #expect(child.waitForOutput(within: Fetchres.patience) { $0.contains("starting-tor") })
    let tor = try ProxyProcess(.microsocks, port: port)
    defer { withExtendedLifetime(tor) {} }
    try Outcome(of: child).expect(0)
    try bench.expectComplete(release)
  }

  @Test(
    "a source that is not there, seen from behind Tor, is no stall",
    .enabled(if: ProxyProcess.isAvailable, ProxyProcess.need))
  func deadBase() throws {
    let (bench, release) = try Self.bench()
    let tor = try ProxyProcess(.microsocks)
    let mirror = try Origin(bench.site.path)
    try bench.origin().stop()
    let outcome = try Self.pull(bench, socks: tor.address, nil, ["--mirror", mirror.base])
    outcome.expect(0)
    try bench.expectComplete(release)
  }

  @Test("an onion address is told to Tor by its name, apart for every origin")
  func onion() throws {
    let bench = try Workbench()
    let socks = try ScriptedPeer([[5, 2], [1, 0]], holds: true)
    let name = String(repeating: "a", count: 56) + ".onion"
    let outcome = try bench.fetchres.run([
      "pull", "http://\(name)/manifest", "--key", bench.site.key, "-d", bench.directory, "--json",
      "--tor-socks", socks.address, "--give-up-after", "2",
    ])
    try outcome.expectFailure("tor-stalled", 3)
    let heard = socks.heard
    #expect(heard.count >= 3, "\(heard)")
    #expect(String(decoding: heard.joined(), as: UTF8.self).contains("http://\(name)/"))
    #expect(heard.contains([5, 1, 0, 3, UInt8(name.utf8.count)] + Array(name.utf8) + [0, 80]))
  }

  @Test("a wait for Tor ends at once when it is interrupted")
  func interrupted() throws {
    let (bench, _) = try Self.bench()
    let socks = try Self.silentSOCKS()
    for control in [try ControlPort(.percent(5)), try ControlPort(.raw("250-")), nil] {
      let child = try bench.fetchres.start(
        bench.pulling(
          ["--json", "--tor-socks", socks.address]
            + (control.map { ["--tor-control", $0.address] } ?? [])))
      if let control {
        let isAsked = control.waitForQuestions(1)
        #expect(isAsked)
      } else {
        #expect(child.waitForOutput(within: Fetchres.patience) { $0.contains("starting-tor") })
      }
      child.send(SIGINT)
      try Outcome(of: child).expectFailure("interrupted", 130)
    }
  }

  @Test(
    "what makes no sense is refused",
    arguments: [
      ["--tor-control", "localhost"], ["--tor-control", "tor.example:9051"], ["--tor-socks", "x"],
      ["--tor", "--tor-password-file", "/dev/null"],
      ["--tor-control", "127.0.0.1:1", "--tor-password-file", "/dev/null"],
      ["--tor-control", "127.0.0.1:1", "--no-proxy"],
      ["--tor-control", "127.0.0.1:1", "--proxy", "http://h:1"],
    ])
  func usage(_ options: [String]) throws {
    let (bench, _) = try Self.bench()
    let outcome = try bench.fetchres.run(bench.pulling(options))
    #expect([2, 6].contains(outcome.exitCode), "\(outcome)")
    #expect(try bench.origin().entries.isEmpty)
  }
}
