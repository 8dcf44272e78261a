import System
import Testing

/// The real tor daemon, in a network without anything in it: its SOCKS and control ports are real, and
/// it cannot get through.
@Suite(.enabled(if: TorDaemon.isAvailable, TorDaemon.need), .serialized)
struct RealTorTests {
  /// What a pull ended with that runs beside such a daemon.
  private struct Seen: Sendable {
    let outcome: Outcome
    let requests: Int
  }

  /// - Parameter configure: the lines of the daemon's configuration, and the options of the pull.
  private static func pull(
    _ configure: @escaping @Sendable (Scratch) throws -> (lines: [String], options: [String]),
    whenReady: @escaping @Sendable (TorDaemon) -> Void = { _ in }
  ) throws -> Seen {
    let result = Isolation.runOnLoopback { () -> Result<Seen, any Error> in
      Result {
        let bench = try Workbench()
        try bench.site.publish(randomBytes(1_000))
        let (lines, options) = try configure(bench.scratch)
        let tor = try TorDaemon(lines: lines)
        whenReady(tor)
        let outcome = try bench.fetchres.run(
          bench.pulling(["--json", "--give-up-after", "3"] + options))
        return Seen(outcome: outcome, requests: try bench.origin().entries.count)
      }
    }
    return try #require(result).get()
  }

  private static func expectStall(_ seen: Seen, _ percents: [Int?]) throws {
    try seen.outcome.expectFailure(
      "tor-stalled", 3, "tor did not get through in 3 s; this network may be blocking it")
    let found = try seen.outcome.events("phase").filter { $0.phase == "starting-tor" }
    #expect(found.map(\.percent) == percents, "\(seen.outcome)")
    #expect(try seen.outcome.events("note").isEmpty, "\(seen.outcome)")
    #expect(seen.requests == 0)
  }

  @Test("a tor that cannot reach its network stalls, and that is told by its SOCKS port alone")
  func socks() throws {
    try Self.expectStall(try Self.pull { _ in ([], ["--tor"]) }, [nil])
  }

  @Test("its control port tells that it is at 0 %, with nothing to authenticate")
  func open() throws {
    try Self.expectStall(
      try Self.pull { _ in ([], ["--tor-control", TorDaemon.control]) }, [nil, 0])
  }

  @Test("the same with its cookie")
  func cookie() throws {
    try Self.expectStall(
      try Self.pull { _ in
        (["CookieAuthentication 1"], ["--tor-control", TorDaemon.control])
      }, [nil, 0])
  }

  @Test("the same with a password, whatever characters are in it")
  func password() throws {
    let seen = try Self.pull { scratch in
      let password = "s3cret \"p\\w"
      let file = try scratch.write("password", Array("\(password)\n".utf8))
      return (
        ["HashedControlPassword \(try TorDaemon.hash(password))"],
        ["--tor-control", TorDaemon.control, "--tor-password-file", file]
      )
    }
    try Self.expectStall(seen, [nil, 0])
  }

  @Test("a tor that is gone by then is waited for, and is not there")
  func dead() throws {
    let seen = try Self.pull(
      { _ in ([], ["--tor-control", TorDaemon.control]) }, whenReady: { $0.end() })
    try seen.outcome.expectFailure("proxy-unreachable", 3, "no tor is at \(TorDaemon.socks)")
    #expect(seen.requests == 0)
  }
}
