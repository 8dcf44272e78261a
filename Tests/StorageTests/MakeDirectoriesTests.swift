import Storage
import System
import TestSupport
import Testing

@Suite struct MakeDirectoriesTests {
  @Test func `wherever it ends, the next run makes all of it durable`() throws {
    var search = PowerCutSearch(seeds: 4)
    try search.run(from: MemoryFileSystem()) { fileSystem in
      try fileSystem.makeDirectories("/a/b/c", permissions: 0o700)
    } examine: { fileSystem, end in
      try fileSystem.makeDirectories("/a/b/c", permissions: 0o700)
      // Also what a killed run had made and not synced.
      for outcome in fileSystem.outcomes(seeds: 0..<4) {
        #expect(throws: Never.self, "\(end)") {
          _ = try fileSystem.crash(survivors: outcome).openDirectory("/a/b/c")
        }
      }
    }
    #expect(search.points == 8)
  }
}
