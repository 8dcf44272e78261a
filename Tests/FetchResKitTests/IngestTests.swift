import FetchResKit
import Foundation
import SignedNote
import Storage
import Testing

/// Heads of a release log that somebody else saw.
@Suite struct IngestTests {
  @Test("a head that somebody shows is counted once, whatever it comes to")
  func counts() async throws {
    guard let origin = Origin("maps.example.com/world") else {
      preconditionFailure("FetchResKitTests: no origin")
    }
    let publication = try Publication(size: 100_000)
    let integrity = try Integrity(
      stateDirectory: publication.stateDirectory, proxy: .none, RealFileSystem())
    func checkpoint() throws -> [UInt8] {
      try Array(Data(contentsOf: URL(fileURLWithPath: publication.site + "/checkpoint")))
    }
    let old = try checkpoint()
    try publication.publish(size: 200_000, version: "2.0")
    _ = try await publication.fetcher.pull(publication.request())
    let same = try checkpoint()
    try publication.publish(size: 300_000, version: "3.0")
    let newer = try checkpoint()
    for (note, comparison) in [
      (same, .match), (old, .behind(isProven: true)), (newer, .ahead),
    ] as [([UInt8], Integrity.Comparison)] {
      let before = try integrity.log(of: origin)
      #expect(try integrity.ingest(note, from: "a friend").comparison == comparison)
      let after = try integrity.log(of: origin)
      #expect(after.headsSeen == before.headsSeen + 1)
      #expect(after.headsMatched == before.headsMatched + (comparison == .ahead ? 0 : 1))
    }
  }
}
