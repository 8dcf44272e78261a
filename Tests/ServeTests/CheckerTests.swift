import Failure
import System
import Testing

@testable import FaultOrigin

/// What the checker of a drill sees in a directory that was made by hand.
@Suite struct CheckerTests {
  private let files: ServeSite
  private let source = patternBytes(200_000).map { $0 | 1 }
  private let site: DrillSite

  init() throws {
    files = try ServeSite()
    try files.write("site/manifest", Self.note.utf8)
    try files.write("site/releases/v1/manifest", Self.note.utf8)
    try files.write("site/releases/v1/thing.bin", source)
    site = try DrillSite(reading: files.path + "/site")
  }

  private static let note = """
    fetchres manifest v1
    origin example.org/thing
    version v1
    release 0
    size 200000
    block-size 65536
    root \(String(repeating: "ab", count: 32))
    file thing.bin
    key example.org/thing+00000000+key

    \u{2014} example.org/thing c2lnbmF0dXJl

    """

  private static let marker = """
    fetchres complete v1
    origin example.org/thing
    version v1
    release 0
    file thing.bin
    size 200000
    root \(String(repeating: "ab", count: 32))
    manifest-sha256 \(Hex.encode(PlainSHA256.digest(Array(note.utf8))))

    """

  private static let work = "pulled/.fetchres/partial/v1-abababababababab"

  private var checker: Checker { Checker(directory: files.path + "/pulled", site: site) }

  private func rules(_ checker: Checker? = nil) -> [Violation.Rule] {
    (checker ?? self.checker).violations().map(\.rule)
  }

  private func changed(at offset: Int, to byte: UInt8) -> [UInt8] {
    var bytes = source
    bytes[offset] = byte
    return bytes
  }

  @Test("a site is read as it stands")
  func reading() {
    #expect(site.newest.version == "v1" && site.newest.blocks == 4)
    #expect(site.key == "example.org/thing+00000000+key")
  }

  @Test("a version that is marked and right is complete, and nothing is wrong")
  func complete() throws {
    try files.write("pulled/v1/manifest", Self.note.utf8)
    try files.write("pulled/v1/complete", Self.marker.utf8)
    try files.write("pulled/v1/thing.bin", source)
    #expect(rules().isEmpty && checker.isComplete)
    #expect(checker.violation(ofResult: files.path + "/pulled/v1/thing.bin") == nil)
    #expect(checker.violation(ofResult: files.path + "/pulled/v1/other") != nil)
  }

  @Test("one wrong byte of a version that is marked is seen", arguments: [0, 65_535, 199_999])
  func wrong(_ offset: Int) throws {
    try files.write("pulled/v1/manifest", Self.note.utf8)
    try files.write("pulled/v1/complete", Self.marker.utf8)
    try files.write("pulled/v1/thing.bin", changed(at: offset, to: 0))
    #expect(rules() == [.wrongAndAvailable] && !checker.isComplete)
  }

  @Test("a file that is too short or too long, or not there, is not what was published")
  func length() throws {
    try files.write("pulled/v1/manifest", Self.note.utf8)
    try files.write("pulled/v1/complete", Self.marker.utf8)
    #expect(rules() == [.wrongAndAvailable])
    try files.write("pulled/v1/thing.bin", source.dropLast())
    #expect(rules() == [.wrongAndAvailable])
    try files.write("pulled/v1/thing.bin", source + [0])
    #expect(rules() == [.wrongAndAvailable])
  }

  @Test("a marker that does not say what is true marks nothing")
  func damagedMarker() throws {
    try files.write("pulled/v1/manifest", Self.note.utf8)
    try files.write("pulled/v1/complete", Self.marker.utf8.dropLast(3))
    try files.write("pulled/v1/thing.bin", changed(at: 5, to: 0))
    #expect(rules().isEmpty && !checker.isComplete)
  }

  @Test("a version that nobody published is not to be marked")
  func unknown() throws {
    let note = Self.note.replacing("version v1", with: "version v9")
    let hash = Hex.encode(PlainSHA256.digest(Array(note.utf8)))
    let old = Hex.encode(PlainSHA256.digest(Array(Self.note.utf8)))
    let marker = Self.marker.replacing("version v1", with: "version v9").replacing(old, with: hash)
    try files.write("pulled/v9/manifest", note.utf8)
    try files.write("pulled/v9/complete", marker.utf8)
    try files.write("pulled/v9/thing.bin", source)
    #expect(rules() == [.wrongAndAvailable])
  }

  @Test("a work file holds zeros and right bytes, and nothing else")
  func workFile() throws {
    var half = source
    for index in 70_000..<150_000 { half[index] = 0 }
    try files.write(Self.work + "/blocks", half)
    #expect(rules().isEmpty)
    half[100_000] = source[100_000] ^ 0x80
    try files.write(Self.work + "/blocks", half)
    #expect(rules() == [.unverifiedByte])
    var checker = checker
    checker.tampered["v1"] = [99_999..<100_001]
    #expect(rules(checker).isEmpty)
    checker.tampered["v1"] = [100_001..<200_000]
    #expect(rules(checker) == [.unverifiedByte])
  }

  @Test("bytes behind the end are bytes that should not be there, unless they are zeros")
  func behindTheEnd() throws {
    try files.write(Self.work + "/blocks", source + [0, 0])
    #expect(rules().isEmpty)
    try files.write(Self.work + "/blocks", source + [0, 7])
    #expect(rules() == [.unverifiedByte])
  }

  @Test("a marker that waits beside a file that is not whole is too early")
  func earlyMarker() throws {
    try files.write(Self.work + "/ready/manifest", Self.note.utf8)
    try files.write(Self.work + "/ready/thing.bin", changed(at: 80_000, to: 0))
    #expect(rules().isEmpty)
    try files.write(Self.work + "/ready/complete", Self.marker.utf8)
    #expect(rules() == [.earlyMarker])
  }
}
