import Foundation
import System
import Testing

/// The same version under a manifest that changes.
@Suite struct ManifestChangeTests {
  /// Another site of the same origin and key, whose `v1` has other content. The key must not know of
  /// the first one: the program would refuse.
  static func reused(_ bench: Workbench, _ bytes: [UInt8]) throws {
    let keyFile = bench.scratch("second.key")
    try Disk.copy(bench.site.keyFile, to: keyFile)
    try Disk.remove(bench.site.path)
    let input = try bench.scratch.write("reused.bin", bytes)
    try bench.fetchres.run([
      "publish", input, "--site", bench.site.path, "--version", "v1", "--key", keyFile, "--as",
      "thing.bin", "--block-size", "\(Site.blockSize)",
    ]).expect(0)
  }

  // covers: F32
  @Test("a complete version whose name is used again is refused, and nothing is touched")
  func reusedComplete() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    try bench.pull().expect(0)
    let before = try Snapshot(bench.directory)
    try Self.reused(bench, randomBytes(300_000))
    try bench.origin().forget()
    // A state that knows the release log would call it a fork.
    let outcome = try bench.pull("--json", "--state-dir", bench.scratch("fresh"))
    try outcome.expectFailure("version-reused", 5, "v1", "nothing was changed")
    #expect(try Snapshot(bench.directory) == before)
    #expect(try bench.origin().count(of: release.dataPath) == 0)
    try bench.expectComplete(release)
  }

  @Test("a begun version whose name is used again is refused, and its blocks are kept")
  func reusedBegun() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    try bench.interruptPull(release, upTo: 48)
    let before = try Snapshot(bench.directory)
    try Self.reused(bench, randomBytes(80 * Site.blockSize))
    let outcome = try bench.pull("--json", "--state-dir", bench.scratch("fresh"))
    try outcome.expectFailure("version-reused", 5, "v1", "was begun")
    #expect(try Snapshot(bench.directory) == before)
    try bench.expectUnfinished(release)
  }

  @Test("a refreshed manifest replaces the snapshot of unfinished work and costs no block")
  func refreshed() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    try bench.interruptPull(release, upTo: 48)
    let old = try Disk.read(try bench.pulled.onlyPartial().snapshot)
    try bench.fetchres.run(
      "publish", "--refresh", "--site", bench.site.path, "--key", bench.site.keyFile,
      "--expires", "+90d"
    ).expect(0)
    let new = try bench.site.manifest()
    #expect(new != old)
    let snapshots = Monitor<[[UInt8]?]>([])
    let snapshot = try bench.pulled.onlyPartial().snapshot
    try bench.origin().bendData(of: release) { _, _ in
      snapshots.change { $0.append(try? Disk.read(snapshot)) }
    }
    try bench.expectResume(release, fetching: 48..<80)
    let seen = snapshots.look { $0 }
    #expect(!seen.isEmpty && seen.allSatisfy { $0 == new })
    #expect(try Disk.read("\(bench.directory)/v1/manifest") == new)
  }

  @Test("a refreshed manifest changes nothing of a complete version")
  func refreshedComplete() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000))
    try bench.pull().expect(0)
    let before = try Snapshot("\(bench.directory)/v1")
    try bench.fetchres.run(
      "publish", "--refresh", "--site", bench.site.path, "--key", bench.site.keyFile,
      "--expires", "+90d"
    ).expect(0)
    try bench.pull().expect(0)
    #expect(try Snapshot("\(bench.directory)/v1") == before)
    try bench.expectComplete(release)
  }

  // MARK: Expiry

  static func waitForExpiry(_ site: Site) throws {
    let expires = try #require(try site.field("expires"))
    let date = try #require(ISO8601DateFormatter().date(from: expires))
    #expect(waitUntil { Clocks.wall() >= Int64(date.timeIntervalSince1970) })
  }

  // covers: F17
  @Test("an expired manifest is refused, and the message names the local clock")
  func expired() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(300_000), ["--expires", "+1s"])
    try Self.waitForExpiry(bench.site)
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("expired", 5, "expired at", "the local clock says 20", "hint: ")
    #expect(try bench.origin().count(of: release.dataPath) == 0)
    #expect(bench.pulled.markers.isEmpty && bench.pulled.partialNames.isEmpty)
  }

  @Test("a manifest that expires during the transfer: all blocks are kept, there is no marker")
  func expiresMeanwhile() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(20 * Site.blockSize), ["--expires", "+3s"])
    let site = bench.site
    try bench.origin().bendData(of: release) { _, _ in try? Self.waitForExpiry(site) }
    let outcome = try bench.pull("--json")
    try outcome.expectFailure("expired", 5, "the local clock says 20")
    try bench.expectUnfinished(release)
    #expect(try bench.pulled.onlyPartial().present(release) == Set(0..<20))

    // The publisher refreshes it: what was kept is all that is needed.
    try bench.fetchres.run(
      "publish", "--refresh", "--site", bench.site.path, "--key", bench.site.keyFile,
      "--expires", "+90d"
    ).expect(0)
    try bench.origin().bend(nil)
    try bench.origin().forget()
    try bench.expectResume(release, fetching: [])
  }

  // covers: F17
  @Test("a version that was begun and has expired gives way to the next")
  func begunExpires() throws {
    let bench = try Workbench()
    let old = try bench.site.publish(
      randomBytes(20 * Site.blockSize), version: "v1", ["--expires", "+3s"])
    try bench.origin().bendData(of: old) { _, response in response = OriginResponse(404, []) }
    try bench.pull().expect(4)
    try Self.waitForExpiry(bench.site)
    let new = try bench.site.publish(randomBytes(300_000), version: "v2")
    try bench.origin().bend(nil)
    try bench.pull("--on-new-version", "stop", "--json").expectFailure("new-version", 8)
    try bench.origin().forget()
    try bench.pull().expect(0)
    #expect(try bench.origin().count(of: old.dataPath) == 0)
    #expect(bench.pulled.markers == ["v2"])
    #expect(areEqual(try Disk.read("\(bench.directory)/v2/\(new.file)"), new.bytes))
  }

  @Test("a manifest that expires during the transfer and is refreshed in time ends the run well")
  func refreshedMeanwhile() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(20 * Site.blockSize), ["--expires", "+3s"])
    let refreshes = Monitor(0)
    // Not the bench: it holds the origin, which holds this.
    let (site, fetchres) = (bench.site, bench.fetchres)
    try bench.origin().bendData(of: release) { _, _ in
      let isFirst = refreshes.change { count in
        count += 1
        return count == 1
      }
      guard isFirst else { return }
      try? Self.waitForExpiry(site)
      _ = try? fetchres.run(
        "publish", "--refresh", "--site", site.path, "--key", site.keyFile, "--expires", "+90d")
    }
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    #expect(try Disk.read("\(bench.directory)/v1/manifest") == bench.site.manifest())
  }
}
