import Glibc
import Storage
import System
import TestSupport
import Testing

@testable import Download

/// File systems that can neither set space aside nor punch holes.
@Suite struct NoAllocationTests {
  // covers: F26
  @Test(arguments: [EOPNOTSUPP, ENOSYS])
  func `without preallocation and holes a resource arrives all the same`(_ code: Int32) throws {
    let fileSystem = MemoryFileSystem()
    fileSystem.onOperation = { operation throws(SystemError) in
      switch operation.kind {
      case .allocate, .punchHole: throw SystemError(code, "fallocate")
      default: break
      }
    }
    // One of its blocks is all zeros, which is a hole where there are any.
    let made = MadeResource.standard
    try DiskPull(fileSystem: fileSystem).run(made)
    let file = try fileSystem.openFile("/data/1.0/world.map")
    #expect(try file.readAll("world.map", limit: 1 << 20) == made.content)
  }
}
