import Glibc
import System
import Testing

/// Runs that are asked to end.
@Suite struct SignalTests {
  enum Ask: Int32, Sendable, CaseIterable {
    case hangUp = 1
    case interrupt = 2
    case terminate = 15

    var word: String {
      switch self {
      case .hangUp: "hung up"
      case .interrupt: "interrupted"
      case .terminate: "terminated"
      }
    }
  }

  /// Sends the signal, and fails unless the run ends for it within a second.
  static func end(
    _ child: Child, by ask: Ask, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let start = Clocks.monotonic()
    child.send(ask.rawValue)
    let outcome = try Outcome(of: child, sourceLocation: sourceLocation)
    let duration = Clocks.monotonic() - start
    #expect(duration < 1, sourceLocation: sourceLocation)
    outcome.expect(128 + ask.rawValue, sourceLocation: sourceLocation)
    #expect(
      outcome.error.contains("fetchres: error: \(ask.word)\n"), "\(outcome.testDescription)",
      sourceLocation: sourceLocation)
    #expect(
      outcome.error.contains("fetchres: hint: run the same command again to resume\n"),
      sourceLocation: sourceLocation)
    return outcome
  }

  // covers: F29
  @Test(
    "a signal in the middle of a transfer ends it within a second, and all is kept",
    arguments: Ask.allCases)
  func transfer(_ ask: Ask) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let child = try bench.beginPull(release, upTo: 48)
    let outcome = try Self.end(child, by: ask)
    try outcome.expectFailure("interrupted", 128 + ask.rawValue)
    try bench.expectUnfinished(release)
    #expect(try bench.pulled.onlyPartial().journal.claims() == Set(0..<48))
    let origin = try bench.origin()
    origin.bend(nil)
    origin.forget()
    try bench.expectResume(release, fetching: 48..<80)
  }

  @Test("a slow transfer ends within a second too", arguments: Ask.allCases)
  func slowTransfer(_ ask: Ask) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let origin = try bench.origin()
    origin.bendData(of: release) { _, response in response.pace = (8_192, 0.02) }
    let child = try bench.fetchres.start(bench.pulling())
    #expect(origin.wait { $0.bodyBytes > 500_000 })
    _ = try Self.end(child, by: ask)
    try bench.expectUnfinished(release)
    origin.bend(nil)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  @Test(
    "a signal while the manifest or a tile is waited for",
    arguments: ["/manifest", "/releases/v1/tile/0/000.p/5"])
  func waitingForSmallFiles(_ path: String) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(5 * Site.blockSize))
    let origin = try bench.origin()
    origin.bend { request, response in
      if request.path == path { (response.limit, response.ending) = (0, .hold) }
    }
    let child = try bench.fetchres.start(bench.pulling())
    #expect(origin.waitForHeld(1))
    _ = try Self.end(child, by: .interrupt)
    origin.bend(nil)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  @Test("a signal while no connection comes about")
  func connecting() throws {
    let bench = try Workbench()
    // It listens and never answers the hello of TLS.
    let silent = try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0")))
    let url = "https://\(try silent.localAddress().text)/manifest"
    let child = try bench.fetchres.start(
      ["pull", url, "--key", bench.site.key, "-d", bench.directory, "-v"])
    let peer = try silent.accept()
    _ = try Self.end(child, by: .terminate)
    peer.shutdown()
  }

  // covers: F29
  @Test("a signal in a wait between two attempts", arguments: [false, true])
  func retrying(_ isLate: Bool) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(5 * Site.blockSize))
    let origin = try bench.origin()
    origin.bend { request, response in
      if isLate == request.path.hasPrefix("/releases") { response = OriginResponse(503, []) }
    }
    let child = try bench.fetchres.start(bench.pulling(["--json"]))
    // After the third failure the program waits for seconds.
    #expect(
      child.waitForOutput(within: Fetchres.patience) { output in
        output.split(separator: "\n").count { $0.contains("\"http-status\"") } >= 3
      })
    _ = try Self.end(child, by: .interrupt)
    origin.bend(nil)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  @Test("a signal while a file is streamed to somebody who does not read")
  func streaming() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(5_000_000))
    try bench.pull().expect(0)
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let shell = try Child(
      "/bin/sh",
      [
        "-c", "exec \"$@\" >/proc/\(ThisProcess.identifier)/fd/\(ends[1])", "sh", Fetchres.binary,
      ] + bench.pulling(["-o", "-"]),
      environment: bench.fetchres.environment)
    var buffer = [UInt8](repeating: 0, count: 1)
    #expect(read(ends[0], &buffer, 1) == 1)
    _ = try Self.end(shell, by: .interrupt)
  }

  @Test(
    "publish ends by the signal too, and leaves nothing that is served", arguments: Ask.allCases)
  func publish(_ ask: Ask) throws {
    let bench = try Workbench()
    // It would take minutes to hash these holes.
    let input = bench.scratch("input.bin")
    try Disk.truncate(input, to: 1 << 40)
    let child = try bench.fetchres.start(bench.site.publishing(input, blockSize: nil, ["--link"]))
    let releases = "\(bench.site.path)/releases"
    let isHashing = waitUntil { Disk.names(in: releases).contains { $0.hasPrefix(".") } }
    #expect(isHashing)
    let start = Clocks.monotonic()
    child.send(ask.rawValue)
    let ending = child.wait(within: Fetchres.patience)
    #expect(Clocks.monotonic() - start < 1)
    #expect(ending == .killed(ask.rawValue) || ending == .exited(128 + ask.rawValue))
    #expect(Disk.names(in: releases).allSatisfy { $0.hasPrefix(".") })
    #expect(!Disk.exists(bench.site.manifestPath()))
    let small = try bench.site.publish(randomBytes(1_000))
    try bench.pull().expect(0)
    try bench.expectComplete(small)
  }

  @Test("serve ends by the signal, and says so by its exit status", arguments: Ask.allCases)
  func serve(_ ask: Ask) throws {
    let bench = try Workbench(.serve)
    try bench.site.publish(randomBytes(1_000))
    try bench.pull().expect(0)
    let server = try #require(bench.server as? ServeProcess)
    #expect(server.end(ask.rawValue) == .exited(128 + ask.rawValue))
  }

  // covers: F29
  @Test("a second signal ends a run that is busy ending")
  func twice() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let child = try bench.beginPull(release, upTo: 48)
    child.send(SIGINT)
    child.send(SIGTERM)
    let ending = child.wait(within: 1)
    #expect(ending == .exited(130) || ending == .exited(143))
    let origin = try bench.origin()
    origin.bend(nil)
    try bench.expectUnfinished(release)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }
}
