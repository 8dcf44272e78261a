import Crypto
import Failure
import MerkleTree
import SignedNote
import Storage
import TestSupport
import Testing

@testable import Publishing

@Suite struct LogWriterTests {
  private func entry(_ index: Int) -> [UInt8] {
    Workshop.content(1 + index % 40, UInt64(index))
  }

  @Test func `every log of up to 600 entries has the tiles, bundles and roots of the definitions`()
    throws
  {
    let workshop = try Workshop()
    let site = try SiteDirectory(Workshop.site, workshop.fileSystem, makes: true)
    var log = ReferenceLog([])
    var leaves: [[UInt8]] = []
    var checkpoint: Checkpoint?
    for size in 1...600 {
      var writer = try LogWriter(site, checkpoint)
      #expect(writer.size == Int64(size - 1))
      let entry = entry(size - 1)
      let (files, root) = writer.append(entry)
      #expect(writer.size == Int64(size))
      log.entries.append(entry)
      leaves.append(ReferenceLog.leaf(entry))

      #expect(files.count <= 4)
      for file in files { try workshop.put("/site/\(file.path)", file.bytes) }
      checkpoint = Checkpoint(origin: Workshop.origin, size: Int64(size), root: root)
      // The next writer proves the rest; here the definitions have the word.
      guard size < 20 || size % 41 == 0 || (size + 2) % 256 < 4 || size == 600 else { continue }
      #expect(root.bytes == ReferenceLog.root(leaves[...]), "\(size)")
      let expected = log.bundles.merging(ReferenceLog.tiles(leaves)) { first, _ in first }
      for file in files { #expect(file.bytes == expected[file.path], "\(size) \(file.path)") }
      for (path, bytes) in expected {
        #expect(workshop.bytes("/site/\(path)") == bytes, "\(size) \(path)")
      }
    }
  }

  @Test func `several entries can be appended to one log at a time`() throws {
    let workshop = try Workshop()
    let site = try SiteDirectory(Workshop.site, workshop.fileSystem, makes: true)
    var writer = try LogWriter(site, nil)
    var leaves: [[UInt8]] = []
    for index in 0..<300 {
      leaves.append(ReferenceLog.leaf(entry(index)))
      let root = writer.append(entry(index)).root
      if index % 23 == 0 || index > 253 && index < 259 {
        #expect(root.bytes == ReferenceLog.root(leaves[...]))
      }
    }
  }

  @Test func `a log whose tiles lead to another root is refused`() throws {
    let workshop = try Workshop()
    let site = try SiteDirectory(Workshop.site, workshop.fileSystem, makes: true)
    var writer = try LogWriter(site, nil)
    let (files, root) = writer.append([1, 2, 3])
    for file in files { try workshop.put("/site/\(file.path)", file.bytes) }
    let good = Checkpoint(origin: Workshop.origin, size: 1, root: root)
    var again = try LogWriter(site, good)
    #expect(again.append([4]).files.count == 2)
    for bad in [
      Checkpoint(origin: Workshop.origin, size: 1, root: SHA256.digest([1])),
      Checkpoint(origin: Workshop.origin, size: 2, root: root),
    ] {
      #expect(
        category { () throws(FetchFailure) in _ = try LogWriter(site, bad) } == .tileInvalid)
    }
  }
}
