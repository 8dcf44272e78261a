import Crypto
import Failure
import Glibc
import Manifest
import MerkleTree
import SignedNote
import Storage
import System
import TestSupport

@testable import Download
@testable import ReleaseLog

/// Looks at what a run left on a disk, without changing it, and says what must not be so.
struct DiskFindings {
  let fileSystem: MemoryFileSystem
  /// What the file of each version has to hold.
  let contents: [String: [UInt8]]
  /// The size of the head that is kept; nil if its record is damaged.
  private let head: Int64?
  private(set) var findings: [String] = []

  init(_ fileSystem: MemoryFileSystem, contents: [String: [UInt8]], origin: Origin) throws {
    (self.fileSystem, self.contents) = (fileSystem, contents)
    head = (try? LogStore(origin, below: "/state", fileSystem).load()).map { $0.head?.size ?? 0 }
    check(head != nil, "the record of the log is damaged")
    guard let data = try ResourceDirectory("/data", fileSystem) else { return }
    try examineCompleted(data)
    for work in data.unfinished() { examine(work) }
    for name in data.partialNames() { try examineBlocks(name) }
  }

  private mutating func check(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds { findings.append(what()) }
  }

  /// What carries a valid marker is whole, available or not.
  private mutating func examineCompleted(_ data: ResourceDirectory) throws {
    for version in data.completedVersions() {
      let manifest = version.manifest
      let bytes = try data.directory.openDirectory(manifest.version)
        .readFile(manifest.file, limit: 1 << 20)
      check(bytes == contents[manifest.version], "\(manifest.version) is complete and wrong")
      examineHead(manifest, "complete")
    }
  }

  /// A snapshot is whole, since it is replaced in one step, and the log vouched for it before.
  private mutating func examine(_ work: ResourceDirectory.Unfinished) {
    guard let manifest = try? Manifest(selfSigned: work.snapshot) else {
      return check(false, "a snapshot is torn")
    }
    check(work.name == PartialResource.name(of: manifest), "a snapshot in another's place")
    examineHead(manifest, "begun")
  }

  /// What was acted on is in the head that is kept, and that head is on disk.
  private mutating func examineHead(_ manifest: Manifest, _ what: String) {
    guard let head else { return }
    check(
      head > manifest.release,
      "release \(manifest.release) is \(what), and the head on disk is \(head)")
  }

  /// Each byte is right or was never written, and what the journal claims is there.
  private mutating func examineBlocks(_ name: String) throws {
    let work = try fileSystem.openDirectory("/data/.fetchres/partial/\(name)")
    guard let note = try? work.readFile("manifest", limit: 1 << 16),
      let manifest = try? Manifest(selfSigned: note), let right = contents[manifest.version]
    else { return }
    let ready = try? work.openDirectory("ready").readFile(manifest.file, limit: 1 << 20)
    guard let bytes = ready ?? (try? work.readFile("blocks", limit: 1 << 20)) else { return }
    check(Self.isProven(bytes, right), "\(name) has bytes that nobody proved")
    guard try work.statusIfPresent("journal") != nil else { return }
    let journal = try Journal(
      in: work, name: "journal", identity: PartialResource.identity(manifest),
      blockCount: manifest.layout.count)
    for claim in journal.claims {
      let range = manifest.layout.bytes(of: claim)
      let (start, end) = (Int(range.lowerBound), Int(range.upperBound))
      check(
        bytes.count >= end && bytes[start..<end] == right[start..<end],
        "\(name) claims blocks \(claim), which are not there")
    }
  }

  /// Whether each byte is right or zero.
  private static func isProven(_ bytes: [UInt8], _ right: [UInt8]) -> Bool {
    guard bytes.count <= right.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      right.withUnsafeBytes { right in
        stride(from: 0, to: bytes.count, by: 4_096).allSatisfy { start in
          let page = bytes[start..<min(bytes.count, start + 4_096)]
          guard let here = bytes.baseAddress, let there = right.baseAddress,
            memcmp(here + start, there + start, page.count) != 0
          else { return true }
          // A page that was torn or never written is looked at byte by byte.
          return page.indices.allSatisfy { bytes[$0] == right[$0] || bytes[$0] == 0 }
        }
      }
    }
  }
}
