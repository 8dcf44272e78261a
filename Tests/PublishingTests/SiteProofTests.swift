import Failure
import MerkleTree
import Storage
import TestSupport
import Testing

@testable import Publishing

@Suite struct SiteProofTests {
  @Test(arguments: ["one", "two", "four"])
  func `every block of a release has a proof that the strict verifier takes`(
    _ file: String
  ) throws {
    let workshop = try Workshop()
    let layout = try workshop.publish("v1", file).manifest.layout
    let content = try #require(workshop.bytes("/in/\(file)"))
    for index in 0..<layout.count {
      let proof = try SiteProof(
        site: Workshop.site, version: "v1", index: index, workshop.fileSystem)
      let bytes = layout.bytes(of: index..<index + 1)
      let block = Array(content[Int(bytes.lowerBound)..<Int(bytes.upperBound)])
      #expect(proof.leaf.bytes == ReferenceLog.leaf(block))
      #expect(proof.count == layout.count)
      try InclusionProof.verify(
        block: block, length: layout.length(of: index), index: index, count: layout.count,
        siblings: proof.siblings.map(\.bytes), root: proof.root.bytes)
      // The proof is for this place alone, unless the neighbour is the same block.
      let other = index == 0 ? layout.count - 1 : index - 1
      let there = layout.bytes(of: other..<other + 1)
      if block.elementsEqual(content[Int(there.lowerBound)..<Int(there.upperBound)]) { continue }
      #expect(
        category { () throws(FetchFailure) in
          try InclusionProof.verify(
            leaf: proof.leaf.bytes, index: other, count: layout.count,
            siblings: proof.siblings.map(\.bytes), root: proof.root.bytes)
        } != nil)
    }
  }

  @Test func `blocks and versions that are not there`() throws {
    let workshop = try Workshop()
    try workshop.publish("v1")
    try workshop.publish("empty", "three")
    for (version, index) in [("v1", -1), ("v1", 7), ("v2", 0), ("..", 0), ("empty", 0)] {
      #expect(
        category { () throws(FetchFailure) in
          _ = try SiteProof(
            site: Workshop.site, version: version, index: Int64(index), workshop.fileSystem)
        } == .usage, "\(version) \(index)")
    }
  }

  @Test func `a forged or missing tile proves nothing`() throws {
    let workshop = try Workshop()
    try workshop.publish("v1", "two")
    for path in ["tile/0/000", "tile/0/002.p/88", "tile/1/000.p/2"] {
      let path = "/site/releases/v1/\(path)"
      let good = try #require(workshop.bytes(path))
      var bad = good
      bad[bad.count / 2] ^= 4
      for bytes in [bad, Array(good.dropLast()), nil] {
        if let bytes { try workshop.put(path, bytes) } else { try workshop.remove(path) }
        #expect(
          category { () throws(FetchFailure) in
            _ = try SiteProof(
              site: Workshop.site, version: "v1", index: 100, workshop.fileSystem)
          } == .tileInvalid)
      }
      try workshop.put(path, good)
    }
    _ = try SiteProof(site: Workshop.site, version: "v1", index: 100, workshop.fileSystem)
  }
}
