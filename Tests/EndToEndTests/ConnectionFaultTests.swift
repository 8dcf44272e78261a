import Glibc
import System
import Testing

/// Connections that break, stall, or never come about.
@Suite struct ConnectionFaultTests {
  typealias Place = ContentFaultTests.Place

  // MARK: Cut

  enum Cut: String, Sendable, CaseIterable {
    case close, reset, unfinishedChunks

    func bend(_ response: inout OriginResponse, after bytes: Int) {
      switch self {
      case .close: (response.limit, response.ending) = (Int64(bytes), .close)
      case .reset: (response.limit, response.ending) = (Int64(bytes), .reset)
      case .unfinishedChunks:
        // Everything is there but the end of it.
        response["Content-Length"] = nil
        response["Transfer-Encoding"] = "chunked"
        let body = response.bytes.prefix(bytes)
        response.bytes =
          Array("\(String(response.bytes.count, radix: 16))\r\n".utf8) + body
        response.ending = .close
      }
    }
  }

  // covers: F04, F14
  @Test(
    "transfers that are always cut off get there piece by piece, and no verified byte is lost",
    arguments: Cut.allCases)
  func alwaysCut(_ cut: Cut) throws {
    let (bench, release) = try RangeFaultTests.bench()
    let piece = 5 * Site.blockSize + 777
    try bench.origin().bendData(of: release) { request, response in
      if response.body.count > piece { cut.bend(&response, after: piece) }
    }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    try bench.expectComplete(release)
    let failures = Set(try outcome.events("source-failed").compactMap(\.category))
    #expect(failures.isSubset(of: ["truncated", "unreachable"]), "\(failures)")
    // What came again is the part of a block at each cut, and at a reset what was under way.
    let entries = try bench.origin().entries(of: release.dataPath)
    #expect(entries.count <= 40)
    if cut != .reset {
      let sent = entries.reduce(0) { $0 + $1.bodyBytes }
      #expect(sent <= Int64(release.bytes.count + entries.count * Site.blockSize))
    }
  }

  @Test(
    "transfers that are cut before the first block has come end the run within bounds",
    arguments: Cut.allCases, [0, 1_000])
  func cutAtOnce(_ cut: Cut, _ bytes: Int) throws {
    let (bench, release) = try RangeFaultTests.bench()
    try bench.origin().bendData(of: release) { _, response in cut.bend(&response, after: bytes) }
    let outcome = try bench.pull("--json", "--give-up-after", "1")
    outcome.expect(3)
    let last = try outcome.last()
    #expect(["truncated", "unreachable"].contains(last.category))
    #expect(last.hint?.contains("run again to resume") == true)
    try bench.expectUnfinished(release)
    #expect(try bench.origin().entries(of: release.dataPath).count <= RangeFaultTests.bound)
  }

  @Test(
    "a small file that is cut off is asked for again", arguments: Cut.allCases,
    [Place.manifest, .tile])
  func smallFileCut(_ cut: Cut, _ place: Place) throws {
    let (bench, release) = try RangeFaultTests.bench()
    let path = place.path(release)
    let seen = Monitor(0)
    try bench.origin().bend { request, response in
      guard request.path == path else { return }
      let number = seen.change { seen in
        seen += 1
        return seen
      }
      if number == 1 { cut.bend(&response, after: 100) }
    }
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    #expect(seen.look { $0 } == 2)
  }

  // covers: F14
  @Test("a server that closes every connection after its answer is no trouble")
  func closing() throws {
    let (bench, release) = try RangeFaultTests.bench()
    try bench.origin().bend { _, response in response.ending = .close }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    #expect(try outcome.events("source-failed").isEmpty)
    try bench.expectComplete(release)
  }

  // covers: F12
  @Test(
    "chunks with their end, and chunks beside a length, are decided by the proof",
    arguments: [true, false])
  func chunked(_ hasLength: Bool) throws {
    let (bench, release) = try RangeFaultTests.bench()
    try bench.origin().bendData(of: release) { _, response in
      let body = response.bytes
      if !hasLength { response["Content-Length"] = nil }
      response["Transfer-Encoding"] = "chunked"
      response.bytes =
        Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8)
    }
    let outcome = try bench.pull("--json", "--give-up-after", "1")
    if outcome.exitCode == 0 {
      try bench.expectComplete(release)
    } else {
      #expect(hasLength)
      try outcome.expectFailure("truncated", 3)
      try bench.expectUnfinished(release)
    }
  }

  // MARK: Silence

  // covers: F13
  @Test("a transfer that falls silent is given up, and the others go on")
  func oneStalls() throws {
    let (bench, release) = try RangeFaultTests.bench()
    try bench.origin().bendData(of: release) { request, response in
      if request.range?.lowerBound == 0, request.range.map({ $0.count > Site.blockSize }) == true {
        (response.limit, response.ending) = (100_000, .hold)
      }
    }
    let outcome = try bench.pull("--json", "--stall", "1K/1s")
    outcome.expect(0)
    #expect(try outcome.events("source-failed").contains { $0.category == "stalled" })
    try bench.expectComplete(release)
  }

  @Test("if all transfers fall silent, the run ends and keeps what has come")
  func allStall() throws {
    let (bench, release) = try RangeFaultTests.bench()
    let cut = 5 * Site.blockSize
    try bench.origin().bendData(of: release) { request, response in
      guard let range = request.range, range.upperBound > cut else { return }
      response.limit = max(0, Int64(cut) - range.lowerBound)
      response.ending = .hold
    }
    let outcome = try bench.pull("--json", "--stall", "1K/1s", "--give-up-after", "2")
    try outcome.expectFailure("stalled", 3, "hint: ")
    try bench.expectUnfinished(release)
    #expect(try bench.pulled.onlyPartial().present(release).isSuperset(of: 0..<4))
    try bench.origin().bend(nil)
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  // covers: F13
  @Test("a trickle below the floor is given up")
  func trickle() throws {
    let (bench, release) = try RangeFaultTests.bench()
    try bench.origin().bendData(of: release) { _, response in response.pace = (1, 0.05) }
    let outcome = try bench.pull("--json", "--stall", "1K/1s", "--give-up-after", "1")
    try outcome.expectFailure("stalled", 3)
    try bench.expectUnfinished(release)
  }

  // covers: F13
  @Test("a slow and steady transfer above the floor is never given up")
  func slowButSteady() throws {
    let (bench, release) = try RangeFaultTests.bench(blocks: 20)
    try bench.origin().bendData(of: release) { _, response in response.pace = (8_192, 0.02) }
    let outcome = try bench.pull(
      "--json", "--stall", "16K/1s", "--give-up-after", "2", "--connections", "2")
    outcome.expect(0)
    #expect(try outcome.events("source-failed").isEmpty)
    try bench.expectComplete(release)
  }

  @Test("a process that was stopped blames nobody for the time in which it did not run")
  func stoppedProcess() throws {
    let (bench, release) = try RangeFaultTests.bench()
    let (asked, answers) = (Monitor(false), Monitor(false))
    try bench.origin().bendData(of: release) { _, _ in
      asked.change { $0 = true }
      _ = answers.wait(until: Clocks.monotonic() + Fetchres.patience) { $0 ? true : nil }
    }
    let child = try bench.fetchres.start(
      bench.pulling([
        "--json", "--first-byte-timeout", "3", "--stall", "1K/3s", "--give-up-after", "3",
      ]))
    #expect(
      asked.wait(until: Clocks.monotonic() + Fetchres.patience) { $0 ? true : nil } == true)
    child.send(SIGSTOP)
    // Longer than its patience; and then long enough for it to look at the clock again.
    _ = waitUntil(within: 4) { false }
    child.send(SIGCONT)
    _ = waitUntil(within: 1) { false }
    answers.change { $0 = true }
    let outcome = try Outcome(of: child)
    outcome.expect(0)
    #expect(try outcome.events("source-failed").isEmpty, "\(outcome.testDescription)")
    try bench.expectComplete(release)
  }

  @Test("no answer at all is a timeout", arguments: Place.allCases)
  func noAnswer(_ place: Place) throws {
    let (bench, release) = try RangeFaultTests.bench()
    let path = place.path(release)
    try bench.origin().bend { request, response in
      guard request.path == path else { return }
      response.raw = []
      response.ending = .hold
    }
    let outcome = try bench.pull("--json", "--first-byte-timeout", "1", "--give-up-after", "2")
    try outcome.expectFailure("timeout", 3, "no answer within 1 s")
    #expect(bench.pulled.markers.isEmpty)
    try bench.pulled.expectNothingWrong(release)
  }

  // covers: F13
  @Test("a peer that accepts and never says hello is a timeout")
  func noHello() throws {
    let bench = try Workbench()
    let silent = try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0")))
    let outcome = try bench.fetchres.run([
      "pull", "https://\(try silent.localAddress().text)/manifest", "--key", bench.site.key, "-d",
      bench.directory, "--json", "--connect-timeout", "1", "--give-up-after", "1",
    ])
    try outcome.expectFailure("timeout", 3)
    #expect(!Disk.exists(bench.directory))
  }

  @Test("nobody there: the run ends with 3, and path answers still")
  func nobody() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(1_000))
    try bench.pull().expect(0)
    try bench.origin().stop()
    let outcome = try bench.pull("--json", "--give-up-after", "1")
    try outcome.expectFailure("unreachable", 3, "http://127.0.0.1:")
    try bench.expectComplete(release)
    // The disk alone is enough if that is what was asked for.
    let offline = try bench.pull("--offline")
    offline.expect(0)
    #expect(offline.line == "\(bench.directory)/v1/thing.bin")
  }

  @Test("offline without a complete version ends with 3 and asks nobody")
  func offlineWithNothing() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    try bench.pull("--offline", "--json").expectFailure("unreachable", 3, "offline")
    try bench.interruptPull(release, upTo: 48)
    try bench.pull("--offline", "--json").expectFailure("unreachable", 3, "offline")
    #expect(try bench.origin().entries.isEmpty)
  }

  // covers: F18
  @Test("a name that does not resolve is unreachable")
  func noName() throws {
    let bench = try Workbench()
    let outcome = try bench.fetchres.run([
      "pull", "http://no-such-host.invalid/manifest", "--key", bench.site.key, "-d",
      bench.directory, "--json", "--give-up-after", "1",
    ])
    try outcome.expectFailure("unreachable", 3)
  }

  @Test(
    "what speaks no HTTP is refused",
    arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "\u{16}\u{3}\u{1}", "garbage\r\n\r\n"])
  func noHTTP(_ text: String) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    try bench.origin().bend { _, response in
      response.raw = Array(text.utf8)
      response.ending = .close
    }
    let outcome = try bench.pull("--json", "--give-up-after", "1")
    outcome.expect(3)
    #expect(try ["truncated", "unreachable"].contains(outcome.last().category))
    #expect(!Disk.exists(bench.directory))
  }

  // MARK: TLS

  // covers: F19
  @Test("a certificate that nobody trusts is refused", .enabled(if: Nginx.here != nil, Nginx.need))
  func untrusted() throws {
    let bench = try Workbench(.nginxTLS)
    try bench.site.publish(randomBytes(1_000))
    let url = bench.server.base + "manifest"
    let arguments = [
      "pull", url, "--key", bench.site.key, "-d", bench.directory, "--json", "--give-up-after", "1",
    ]
    try bench.fetchres.run(arguments).expectFailure(
      "tls", 3, "the issuer of the certificate of 127.0.0.1", "is unknown here")
    // The right authority, another name.
    let named = try #require(Nginx.here?.tlsURL).replacing("127.0.0.1", with: "127.0.0.2")
    var other = arguments + bench.server.pullArguments
    other[1] = url.replacing("127.0.0.1", with: "127.0.0.2")
    #expect(named != other[1])
    let outcome = try bench.fetchres.run(other)
    outcome.expect(3)
    #expect(!Disk.exists(bench.directory))
  }

  @Test("https to a server that speaks something else is no TLS")
  func plainForTLS() throws {
    let bench = try Workbench()
    let listener = try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0")))
    let server = WorkThread("no tls") {
      while let peer = try? listener.accept() {
        try? Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).withUnsafeBytes { try peer.send($0) }
        peer.finishSending()
      }
    }
    defer {
      listener.shutdown()
      server.join()
    }
    let outcome = try bench.fetchres.run([
      "pull", "https://\(try listener.localAddress().text)/manifest", "--key", bench.site.key,
      "-d", bench.directory, "--json", "--give-up-after", "1",
    ])
    try outcome.expectFailure("tls", 3)
  }
}
