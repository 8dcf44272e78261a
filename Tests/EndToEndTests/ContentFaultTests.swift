import System
import Testing

/// Answers of the right form with the wrong content.
@Suite struct ContentFaultTests {
  enum Wrong: String, Sendable, CaseIterable {
    case oneBit, lastByte, shiftedWindow, zeros, ofAnotherFile

    /// Spoils one block inside an answer.
    func spoil(_ bytes: inout [UInt8], _ block: Range<Int>, of release: Release, at first: Int) {
      switch self {
      case .oneBit: bytes[block.lowerBound + 1_234] ^= 0x10
      case .lastByte: bytes[block.upperBound - 1] ^= 1
      case .zeros:
        bytes.replaceSubrange(block, with: repeatElement(0, count: block.count))
      case .ofAnotherFile: bytes.replaceSubrange(block, with: randomBytes(block.count))
      case .shiftedWindow:
        let shifted = first + block.lowerBound + 1..<first + block.upperBound + 1
        bytes.replaceSubrange(block, with: release.bytes[shifted])
      }
    }
  }

  static let bad = 17

  /// Spoils a block in every answer that holds all of it and that `isWrong` picks.
  static func spoil(
    _ wrong: Wrong, _ release: Release, in bench: Workbench,
    where isWrong: @escaping @Sendable (OriginRequest) -> Bool
  ) throws {
    let inFile = release.range(of: bad)
    try bench.origin().bendData(of: release) { request, response in
      guard let range = request.range, range.contains(Int64(inFile.lowerBound)),
        isWrong(request)
      else { return }
      let first = Int(range.lowerBound)
      var bytes = response.bytes
      wrong.spoil(
        &bytes, inFile.lowerBound - first..<inFile.upperBound - first, of: release, at: first)
      response.bytes = bytes
    }
  }

  // covers: F05
  @Test(
    "a block that is wrong once is fetched once more, on a new connection, and no other is",
    arguments: Wrong.allCases)
  func once(_ wrong: Wrong) throws {
    let (bench, release) = try RangeFaultTests.bench()
    let first = Monitor<Int?>(nil)
    try Self.spoil(wrong, release, in: bench) { request in
      first.change { first in
        first = first ?? request.number
        return first == request.number
      }
    }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    let rejected = try outcome.events("block-rejected")
    #expect(rejected.map(\.block) == [Int64(Self.bad)])
    #expect(rejected.first?.category == "block-mismatch" && rejected.first?.wasOnDisk == false)
    #expect(rejected.first?.source?.hasPrefix("http://127.0.0.1:") == true)
    try bench.expectComplete(release)

    let offset = Int64(Self.bad * Site.blockSize)
    let asking = try bench.origin().entries(of: release.dataPath).map(\.request)
      .filter { $0.range?.contains(offset) == true }
    #expect(asking.count == 2)
    #expect(asking.last?.range == offset..<offset + Int64(Site.blockSize))
    #expect(asking.first?.connection != asking.last?.connection)
    let bytes = try bench.origin().bytes(of: release.dataPath)
    #expect(bytes == Int64(release.bytes.count + Site.blockSize))
  }

  @Test(
    "a block that is wrong every time ends the run, and all the others are kept",
    arguments: Wrong.allCases)
  func always(_ wrong: Wrong) throws {
    let (bench, release) = try RangeFaultTests.bench()
    try Self.spoil(wrong, release, in: bench) { _ in true }
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("block-mismatch", 4, "block \(Self.bad)", "http://127.0.0.1:")
    #expect(try outcome.last().block == Int64(Self.bad))
    try bench.expectUnfinished(release)
    let others = Set(0..<release.blockCount).subtracting([Self.bad])
    #expect(try bench.pulled.onlyPartial().present(release) == others)
    #expect(try bench.origin().entries(of: release.dataPath).count <= RangeFaultTests.bound)

    // An honest server later on: only that block is missing.
    try bench.origin().bend(nil)
    try bench.origin().forget()
    try bench.expectResume(release, fetching: [Self.bad])
  }

  // covers: F05
  @Test("a source that serves another file altogether ends the run, within bounds")
  func anotherFile() throws {
    let (bench, release) = try RangeFaultTests.bench()
    let other = randomBytes(release.bytes.count)
    try bench.origin().bendData(of: release) { request, response in
      guard let range = request.range else { return }
      response.bytes = Array(other[Int(range.lowerBound)..<Int(range.upperBound)])
    }
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("block-mismatch", 4)
    try bench.expectUnfinished(release)
    #expect(try bench.pulled.onlyPartial().present(release).isEmpty)
    #expect(try bench.origin().entries(of: release.dataPath).count <= RangeFaultTests.bound)
  }

  // covers: F10
  @Test("a file that is replaced between two requests: what was verified is kept")
  func replaced() throws {
    let (bench, release) = try RangeFaultTests.bench()
    let other = randomBytes(release.bytes.count)
    try bench.origin().bendData(of: release) { request, response in
      guard let range = request.range, range.lowerBound > 0 else { return }
      response["ETag"] = "\"new\""
      response.bytes = Array(other[Int(range.lowerBound)..<Int(range.upperBound)])
    }
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("block-mismatch", 4)
    try bench.expectUnfinished(release)
    #expect(try bench.pulled.onlyPartial().present(release).contains(0))
  }

  // covers: F10
  @Test(
    "entity tags mean nothing: changing, weak, missing", arguments: ["changing", "weak", "missing"])
  func tags(_ kind: String) throws {
    let (bench, release) = try RangeFaultTests.bench()
    try bench.origin().bendData(of: release) { request, response in
      switch kind {
      case "changing": response["ETag"] = "\"\(request.number)\""
      case "weak": response["ETag"] = "W/\"\(request.number)\""
      default: response["ETag"] = nil
      }
    }
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    #expect(try outcome.events("source-failed").isEmpty)
    #expect(try bench.origin().bytes(of: release.dataPath) == Int64(release.bytes.count))
    try bench.expectComplete(release)
  }

  // MARK: Status and encoding

  // covers: F06
  @Test(
    "the body of an answer that is no success is never data, whatever its length",
    arguments: [
      (204, 4), (302, 4), (400, 4), (403, 4), (404, 4), (410, 4), (416, 4), (451, 4),
      (408, 3), (425, 3), (429, 3), (500, 3), (502, 3), (503, 3), (504, 3),
    ] as [(Int, Int32)])
  func status(_ status: Int, _ code: Int32) throws {
    let (bench, release) = try RangeFaultTests.bench()
    try bench.origin().bendData(of: release) { _, response in
      // The right bytes under the wrong status.
      response.status = status
      if status == 204 { response.limit = 0 }
    }
    let outcome = try bench.pull("--json", "--give-up-after", "20")
    try outcome.expectFailure("http-status", code, "HTTP \(status)")
    #expect(try outcome.last().httpStatus == status)
    try bench.expectUnfinished(release)
    #expect(try bench.pulled.onlyPartial().present(release).isEmpty)
    #expect(try bench.origin().entries(of: release.dataPath).count <= RangeFaultTests.bound)
  }

  enum Place: String, Sendable, CaseIterable {
    case manifest, data, tile

    func path(_ release: Release) -> String {
      switch self {
      case .manifest: "/manifest"
      case .data: release.dataPath
      case .tile: "\(release.tilePath)0/000.p/\(release.blockCount)"
      }
    }
  }

  // covers: F08
  @Test(
    "an encoded body is refused, wherever it comes", arguments: Place.allCases,
    ["gzip", "x-unheard-of"])
  func encoded(_ place: Place, _ encoding: String) throws {
    let (bench, release) = try RangeFaultTests.bench()
    let path = place.path(release)
    try bench.origin().bend { request, response in
      if request.path == path { response["Content-Encoding"] = encoding }
    }
    let outcome = try bench.pull("--json", "--give-up-after", "20")
    try outcome.expectFailure("encoded-body", 4, encoding)
    #expect(bench.pulled.markers.isEmpty)
    try bench.pulled.expectNothingWrong(release)
    #expect(try bench.origin().entries.count <= RangeFaultTests.bound)
  }

  @Test("identity is no encoding", arguments: Place.allCases, ["identity", "Identity", ""])
  func identity(_ place: Place, _ encoding: String) throws {
    let (bench, release) = try RangeFaultTests.bench()
    let path = place.path(release)
    try bench.origin().bend { request, response in
      if request.path == path { response["Content-Encoding"] = encoding }
    }
    try bench.pull().expect(0)
    try bench.expectComplete(release)
  }

  // covers: F07
  @Test(
    "a login page instead of what was asked is refused, and the message says what came",
    arguments: Place.allCases)
  func loginPage(_ place: Place) throws {
    let (bench, release) = try RangeFaultTests.bench()
    let page = Array(("<!DOCTYPE html>" + String(repeating: "x", count: 620)).utf8)
    let path = place.path(release)
    try bench.origin().bend { request, response in
      if request.path == path { response = OriginResponse(200, page, type: "text/html; charset=x") }
    }
    let outcome = try bench.pull("--json", "--give-up-after", "20")
    outcome.expect(4)
    let last = try outcome.last()
    switch place {
    case .manifest: #expect(last.category == "note-malformed")
    case .tile: #expect(["tile-invalid", "too-large"].contains(last.category))
    case .data: #expect(["range-mismatch", "range-ignored"].contains(last.category))
    }
    #expect(last.message?.contains("635 bytes") == true, "\(outcome.testDescription)")
    if place == .manifest {
      #expect(last.message?.contains("text/html, 635 bytes") == true)
    }
    #expect(bench.pulled.markers.isEmpty)
    try bench.pulled.expectNothingWrong(release)
    #expect(try bench.origin().entries.count <= RangeFaultTests.bound)
  }
}
