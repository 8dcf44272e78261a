import System
import Testing

/// Answers that are larger than anything that was asked for.
@Suite struct LimitTests {
  typealias Place = ContentFaultTests.Place

  enum Excess: String, Sendable, CaseIterable {
    case oneLargeHeader, manyHeaders, absurdLength, endless

    func bend(_ response: inout OriginResponse) {
      switch self {
      case .oneLargeHeader: response["X-Large"] = String(repeating: "x", count: 1 << 20)
      case .manyHeaders:
        for number in 0..<10_000 { response.fields.append(("X-\(number)", "value")) }
      case .absurdLength:
        response["Content-Length"] = "99999999999999999999"
        response.ending = .hold
      case .endless:
        response["Content-Length"] = nil
        response["Connection"] = "close"
        response.bytes += [UInt8](repeating: 0x41, count: 128 << 20)
        response.ending = .close
      }
    }
  }

  /// What a run may take at most. Less than what is sent here would need if anything kept it.
  static let memory: Int64 = 96 << 20

  // covers: F11
  @Test(
    "an answer without bounds is refused within ours", arguments: Place.allCases, Excess.allCases)
  func excess(_ place: Place, _ excess: Excess) throws {
    let (bench, release) = try RangeFaultTests.bench(blocks: 5)
    let path = place.path(release)
    try bench.origin().bend { request, response in
      if request.path == path { excess.bend(&response) }
    }
    let child = try bench.fetchres.start(
      bench.pulling([
        "--json", "--give-up-after", "4", "--stall", "1K/4s", "--first-byte-timeout", "4",
      ]))
    let memory = child.peakMemory(within: Fetchres.patience)
    let outcome = try Outcome(of: child)
    try outcome.expectFailure(
      excess == .absurdLength && place == .data ? "range-mismatch" : "too-large", 4)
    #expect(bench.pulled.markers.isEmpty)
    try bench.pulled.expectNothingWrong(release)
    #expect(memory > 0 && memory < Self.memory)
    #expect(try bench.origin().entries.count <= RangeFaultTests.bound)
  }

  @Test("a manifest, signed or not, of more than 64 KiB is refused")
  func largeManifest() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let large = try bench.site.manifest() + [UInt8](repeating: 0x0A, count: 65_536)
    try bench.origin().bend { request, response in
      if request.path == "/manifest" { response.replaceBody(large) }
    }
    try bench.pull("--json").expectFailure("too-large", 4, "at most 65535 bytes")
    #expect(!Disk.exists(bench.directory))
  }

  @Test("a tile of another length is refused", arguments: [-32, 1, 100_000])
  func tileLength(_ difference: Int) throws {
    let (bench, release) = try RangeFaultTests.bench(blocks: 5)
    let path = Place.tile.path(release)
    try bench.origin().bend { request, response in
      guard request.path == path else { return }
      let bytes = response.bytes
      response.replaceBody(
        difference < 0
          ? Array(bytes.dropLast(-difference))
          : bytes + [UInt8](repeating: 0, count: difference))
    }
    let outcome = try bench.pull("--json", "--give-up-after", "1")
    outcome.expect(4)
    #expect(try ["tile-invalid", "too-large"].contains(outcome.last().category))
    try bench.expectUnfinished(release)
    #expect(try bench.pulled.onlyPartial().present(release).isEmpty)
  }

  @Test(
    "a tile with a bit flipped proves nothing; once flipped, it is asked for again",
    arguments: [true, false])
  func tileFlipped(_ isAlways: Bool) throws {
    let (bench, release) = try RangeFaultTests.bench(blocks: 5)
    let path = Place.tile.path(release)
    let seen = Monitor(0)
    try bench.origin().bend { request, response in
      guard request.path == path else { return }
      let number = seen.change { seen in
        seen += 1
        return seen
      }
      if isAlways || number == 1 { response.bytes[70] ^= 1 }
    }
    let outcome = try bench.pull("--json")
    if isAlways {
      try outcome.expectFailure("tile-invalid", 4)
      try bench.expectUnfinished(release)
      #expect(try bench.pulled.onlyPartial().present(release).isEmpty)
      #expect(seen.look { $0 } <= 10)
    } else {
      outcome.expect(0)
      #expect(seen.look { $0 } == 2)
      try bench.expectComplete(release)
    }
  }
}
