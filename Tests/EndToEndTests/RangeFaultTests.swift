import System
import Testing

/// Wrong answers to requests for a range.
@Suite struct RangeFaultTests {
  /// A resource of a few spans, each asked for by its own request.
  static func bench(blocks: Int = 40) throws -> (Workbench, Release) {
    let bench = try Workbench()
    return (bench, try bench.site.publish(randomBytes(blocks * Site.blockSize - 1_000)))
  }

  /// What a source that is wrong all the time costs at most, in requests for data.
  static let bound = 60

  // MARK: The whole file

  // covers: F01
  @Test(
    "a server that knows no ranges sends the file in one stream, which is verified block by block")
  func wholeFile() throws {
    let (bench, release) = try Self.bench()
    try bench.origin().bendData(of: release) { request, response in
      response = OriginResponse.whole(release)
    }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    #expect(try outcome.events("source-failed").allSatisfy { $0.category == "range-ignored" })
    try bench.expectComplete(release)
    let requests = try bench.origin().entries(of: release.dataPath)
    // All at first hoped for ranges, one knew better.
    #expect(requests.filter { $0.request.range == nil }.count == 1)
    #expect(requests.count <= 9)
  }

  @Test("nginx without ranges too", .enabled(if: Nginx.here != nil, Nginx.need))
  func nginxWithoutRanges() throws {
    let nginx = try #require(Nginx.here)
    let bench = try Workbench(.nginx)
    let release = try bench.site.publish(randomBytes(5_000_000))
    let name = try #require((bench.server as? Nginx.Running)?.name)
    let outcome = try bench.fetchres.run([
      "pull", "\(nginx.noRangeURL)/\(name)/manifest", "--key", bench.site.key, "-d",
      bench.directory, "--json",
    ])
    outcome.expect(0)
    #expect(try outcome.events("source-failed").allSatisfy { $0.category == "range-ignored" })
    try bench.expectComplete(release)
    let requests = try #require(try bench.server.count(of: release.dataPath))
    #expect(requests <= 9)
  }

  @Test(
    "a block that is wrong in the one stream is asked for again, and nothing else is thrown away")
  func wholeFileWithABadBlock() throws {
    let (bench, release) = try Self.bench()
    let streams = Monitor(0)
    try bench.origin().bendData(of: release) { request, response in
      response = OriginResponse.whole(release)
      guard request.range == nil else { return }
      let isFirst = streams.change { count in
        count += 1
        return count == 1
      }
      if isFirst { response.bytes[7 * Site.blockSize] ^= 1 }
    }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    #expect(try outcome.events("block-rejected").map(\.block) == [7])
    #expect(streams.look { $0 } == 2)
    try bench.expectComplete(release)
  }

  @Test("a whole file of another length is refused", arguments: [-1, 1, 5_000_000])
  func wholeFileOfAnotherLength(_ difference: Int) throws {
    let (bench, release) = try Self.bench()
    try bench.origin().bendData(of: release) { request, response in
      response = OriginResponse.whole(release)
      let bytes =
        difference < 0
        ? Array(release.bytes.dropLast(-difference)) : release.bytes + randomBytes(difference)
      response.replaceBody(bytes)
    }
    let outcome = try bench.pull("--json", "--give-up-after", "20")
    try outcome.expectFailure("range-mismatch", 4, "for a file of \(release.bytes.count)")
    try bench.expectUnfinished(release)
    #expect(try bench.origin().entries(of: release.dataPath).count <= Self.bound)
  }

  // MARK: Another window

  enum Window: String, Sendable, CaseIterable {
    case earlier, later, longer, shorter, missing, twice, otherTotal, otherUnit, garbage
    case negative, backwards, severalRanges, otherLength, unsatisfied

    func bend(_ request: OriginRequest, _ response: inout OriginResponse, _ size: Int) {
      guard let range = request.range else { return }
      let (first, last) = (range.lowerBound, range.upperBound - 1)
      switch self {
      case .earlier:
        response["Content-Range"] = "bytes \(max(0, first - 1))-\(last - 1)/\(size)"
      case .later: response["Content-Range"] = "bytes \(first + 1)-\(last + 1)/\(size + 5)"
      case .longer: response["Content-Range"] = "bytes \(first)-\(last + 1)/\(size + 5)"
      case .shorter:
        response["Content-Range"] = "bytes \(first)-\(last - 1)/\(size)"
        response.replaceBody(response.bytes.dropLast())
      case .missing: response["Content-Range"] = nil
      case .twice: response.fields.append(("Content-Range", "bytes 0-0/\(size)"))
      case .otherTotal: response["Content-Range"] = "bytes \(first)-\(last)/\(size + 1)"
      case .otherUnit: response["Content-Range"] = "blocks \(first)-\(last)/\(size)"
      case .garbage: response["Content-Range"] = "bytes=\(first)-\(last)"
      case .negative: response["Content-Range"] = "bytes -\(first)-\(last)/\(size)"
      case .backwards: response["Content-Range"] = "bytes \(last)-\(first)/\(size)"
      case .unsatisfied: response["Content-Range"] = "bytes */\(size)"
      case .severalRanges:
        response["Content-Range"] = nil
        response["Content-Type"] = "multipart/byteranges; boundary=x"
      case .otherLength: response.replaceBody(response.bytes.dropLast())
      }
    }
  }

  // covers: F02
  @Test(
    "an answer for another window is refused before a byte of it is stored",
    arguments: Window.allCases)
  func window(_ window: Window) throws {
    let (bench, release) = try Self.bench()
    try bench.origin().bendData(of: release) { window.bend($0, &$1, release.bytes.count) }
    let outcome = try bench.pull("--json", "--give-up-after", "20")
    try outcome.expectFailure("range-mismatch", 4)
    try bench.expectUnfinished(release)
    #expect(try bench.pulled.onlyPartial().present(release).isEmpty)
    #expect(try bench.origin().entries(of: release.dataPath).count <= Self.bound)
  }

  @Test("after one answer for another window the right one is taken", arguments: Window.allCases)
  func windowOnce(_ window: Window) throws {
    let (bench, release) = try Self.bench()
    let first = Monitor<Int?>(nil)
    try bench.origin().bendData(of: release) { request, response in
      let isFirst = first.change { first in
        first = first ?? request.number
        return first == request.number
      }
      if isFirst { window.bend(request, &response, release.bytes.count) }
    }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    #expect(try outcome.events("source-failed").map(\.category) == ["range-mismatch"])
    try bench.expectComplete(release)
  }

  @Test(
    "other spellings of the same window are taken", arguments: ["Bytes", "BYTES", "bytes"],
    [true, false])
  func spelling(_ unit: String, _ isTotalKnown: Bool) throws {
    let (bench, release) = try Self.bench()
    try bench.origin().bendData(of: release) { request, response in
      guard let range = request.range else { return }
      let total = isTotalKnown ? "\(release.bytes.count)" : "*"
      response["Content-Range"] = "\(unit) \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
    }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    #expect(try outcome.events("source-failed").isEmpty)
    try bench.expectComplete(release)
  }

  // covers: F09
  @Test(
    "nothing past the end is ever asked for, and nothing of an empty file",
    arguments: PullTests.sizes)
  func neverPastTheEnd(_ size: Int) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(size))
    try bench.pull().expect(0)
    let requests = try bench.origin().entries(of: release.dataPath)
    #expect(requests.isEmpty == (size == 0))
    for request in requests {
      let range = try #require(request.request.range)
      #expect(range.upperBound <= Int64(size) && !range.isEmpty)
      #expect(request.status == 206)
    }
  }
}

extension OriginResponse {
  /// What a server sends that ignores ranges.
  static func whole(_ release: Release) -> OriginResponse {
    OriginResponse(200, release.bytes, type: "application/octet-stream")
  }
}
