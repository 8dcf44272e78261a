import Failure
import Manifest
import Storage
import System
import TestSupport
import Testing

@testable import Download

/// Ends a pull at every operation, by power cut and by kill: what is available is nothing or right,
/// and a rerun completes it.
@Suite struct FinishPowerTests {
  private let made = MadeResource.standard

  /// Looks at every state of `work`, completes it, and looks again.
  private func search(
    from start: MemoryFileSystem, seeds: UInt64 = 4, before: MadeResource? = nil,
    _ made: MadeResource, work: (DiskPull) throws -> Void
  ) throws -> (points: Int, states: Int, different: Int) {
    var seen: Set<Int> = []
    var search = PowerCutSearch(seeds: seeds)
    try search.run(from: start) { fileSystem in
      try work(DiskPull(fileSystem: fileSystem))
    } examine: { fileSystem, end in
      if end.kind != .kill, !seen.insert(try fileSystem.fingerprint()).inserted { return }
      do {
        let pull = DiskPull(fileSystem: fileSystem)
        try expectRight(pull, before, made, isComplete: end.isComplete, end)
        // Nothing that carries a valid marker is wrong, available or not.
        for version in try pull.directory()?.completedVersions() ?? [] {
          let right = version.manifest.version == made.manifest.version ? made : before
          let file = try fileSystem.openFile("/data/\(version.manifest.version)/world.map")
          #expect(try file.readAll("world.map", limit: 1 << 20) == right?.content, "\(end)")
        }
        try pull.run(made)
        try expectRight(pull, before, made, isComplete: true, end)
        #expect(try pull.directory()?.current?.manifest == made.manifest, "\(end)")
        // What a kill left is not durable yet; what a power cut left, and the rerun, are.
        guard end.kind == .kill else {
          let after = DiskPull(fileSystem: fileSystem.crash(survivors: .nothingUnsynced))
          return try expectRight(after, before, made, isComplete: true, end)
        }
        for outcome in fileSystem.outcomes(seeds: 0..<2) {
          let after = DiskPull(fileSystem: fileSystem.crash(survivors: outcome))
          try expectRight(after, before, made, isComplete: false, end)
          try after.run(made)
          try expectRight(after, before, made, isComplete: true, end)
        }
      } catch { Issue.record(error, "\(end)") }
    }
    return (search.points, search.states, seen.count)
  }

  private func expectRight(
    _ pull: DiskPull, _ before: MadeResource?, _ made: MadeResource, isComplete: Bool,
    _ end: PowerCutSearch.End
  ) throws {
    guard let there = try pull.available() else {
      #expect(!isComplete && before == nil, "\(end)")
      return
    }
    let isNew = there.version == made.manifest.version
    #expect(isNew || !isComplete, "\(end)")
    let right = isNew ? made : before
    #expect(there.bytes == right?.content, "\(end)")
    #expect(there.note == right?.note, "\(end)")
  }

  // covers: F22
  @Test func `wherever the first pull ends`() throws {
    let result = try search(from: MemoryFileSystem(), made) { pull in try pull.run(made) }
    #expect(result.points > 50)
    #expect(result.states > 500)
    #expect(result.different > 150 || Sanitizer.isThere)
  }

  @Test func `wherever the pull of a second version ends, the first one stays available`() throws {
    let start = MemoryFileSystem()
    try DiskPull(fileSystem: start).run(made)
    let next = try MadeResource("2.0", release: 1, seed: 2)
    let result = try search(from: start, seeds: 3, before: made, next) { pull in
      try pull.run(next)
    }
    #expect(result.points > 40)
  }

  @Test func `wherever taking back an incomplete version ends, the next run goes on`() throws {
    let start = MemoryFileSystem()
    try DiskPull(fileSystem: start).run(made)
    // Somebody broke the marker.
    try start.openDirectory("/data/1.0").replaceFile("complete", [1])
    let result = try search(from: start, seeds: 3, made) { pull in
      // The block of zeros is a hole, which looks like nothing at all.
      let fetched = try pull.run(made)
      #expect(fetched.runs == [1..<2])
    }
    #expect(result.points > 25)
  }

  // covers: F21, F22
  @Test func `wherever a resumed pull ends, what was committed is not fetched again`() throws {
    // Half of it is there, committed.
    let start = MemoryFileSystem()
    let pull = DiskPull(fileSystem: start)
    let directory = try ResourceDirectory.make("/data", start)
    let lock = try directory.lock()
    let resource = try directory.openUnfinished(made.manifest, note: made.note, lock)
    _ = try pull.fill(resource, made, upTo: 2)
    var search = PowerCutSearch(seeds: 4)
    try search.run(from: start) { fileSystem in
      try DiskPull(fileSystem: fileSystem).run(made)
    } examine: { fileSystem, end in
      let fetched = try DiskPull(fileSystem: fileSystem).run(made)
      #expect(!fetched.contains(0) && !fetched.contains(1), "\(end)")
    }
    #expect(search.points > 20)
  }

  @Test func `a journal that claims what was lost is found out`() throws {
    // The data vanish under a journal that is durable: a disk that lies.
    let start = MemoryFileSystem()
    let pull = DiskPull(fileSystem: start)
    let directory = try ResourceDirectory.make("/data", start)
    let lock = try directory.lock()
    let resource = try directory.openUnfinished(made.manifest, note: made.note, lock)
    _ = try pull.fill(resource, made)
    let work = try start.openDirectory(
      "/data/.fetchres/partial/\(PartialResource.name(of: made.manifest))")
    let blocks = try work.openFile("blocks", .readWrite)
    try blocks.punchHole(0..<8_192)
    try blocks.writeAll([0xFF], at: 17_999)
    let next = DiskPull(fileSystem: start.restart())
    let fetched = try next.run(made)
    #expect(fetched.runs == [0..<1, 4..<5])
    #expect(try next.available()?.bytes == made.content)
  }

  @Test(arguments: ["cut", "zeros", "gone", "other"])
  func `a journal that is no good means that what is there is hashed`(_ damage: String) throws {
    let start = MemoryFileSystem()
    let pull = DiskPull(fileSystem: start)
    let directory = try ResourceDirectory.make("/data", start)
    let lock = try directory.lock()
    let resource = try directory.openUnfinished(made.manifest, note: made.note, lock)
    _ = try pull.fill(resource, made)
    let work = try start.openDirectory(
      "/data/.fetchres/partial/\(PartialResource.name(of: made.manifest))")
    let journal = try work.openFile("journal", .readWrite)
    let size = try journal.status().size
    switch damage {
    case "cut": try journal.truncate(to: size - 33)
    case "zeros": try journal.writeAll([UInt8](repeating: 0, count: Int(size)))
    case "gone": try work.remove("journal")
    default: try journal.writeAll([1], at: 30)
    }
    let next = DiskPull(fileSystem: start.restart())
    // The block of zeros is a hole, which looks like nothing at all.
    let fetched = try next.run(made)
    #expect(fetched.runs == [] || fetched.runs == [1..<2])
    #expect(try next.available()?.bytes == made.content)
  }
}
