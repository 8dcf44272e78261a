import Failure
import MerkleTree
import Testing

@Suite struct ProofVectorTests {
  struct Inclusion: Decodable, Sendable {
    let index: VectorNumber
    let count: VectorNumber
    let root: VectorBytes
    let siblings: [VectorBytes]
    let leaf: VectorBytes?
    let block: VectorBytes?
    let blockLength: Int?
  }

  @Test(arguments: try VectorFile<Inclusion>.all(in: "inclusion"))
  func `an inclusion proof has the verdict of its vector`(_ file: VectorFile<Inclusion>) throws {
    let fields = file.fields
    let siblings = fields.siblings.map(\.bytes)
    try #require((fields.leaf == nil) != (fields.block == nil))
    let found = category { () throws(FetchFailure) in
      let (index, count) = (try fields.index.value(), try fields.count.value())
      if let leaf = fields.leaf {
        try InclusionProof.verify(
          leaf: leaf.bytes, index: index, count: count, siblings: siblings, root: fields.root.bytes)
      }
      if let block = fields.block {
        try InclusionProof.verify(
          block: block.bytes, length: fields.blockLength ?? -1, index: index, count: count,
          siblings: siblings, root: fields.root.bytes)
      }
    }
    #expect(try found == file.refusal(), "\(file.about)")
  }

  struct Consistency: Decodable, Sendable {
    let size1: VectorNumber
    let size2: VectorNumber
    let root1: VectorBytes
    let root2: VectorBytes
    let proof: [VectorBytes]
  }

  @Test(arguments: try VectorFile<Consistency>.all(in: "consistency"))
  func `a consistency proof has the verdict of its vector`(
    _ file: VectorFile<Consistency>
  ) throws {
    let fields = file.fields
    let found = category { () throws(FetchFailure) in
      try ConsistencyProof.verify(
        size1: try fields.size1.value(), root1: fields.root1.bytes,
        size2: try fields.size2.value(), root2: fields.root2.bytes,
        proof: fields.proof.map(\.bytes))
    }
    #expect(try found == file.refusal(), "\(file.about)")
  }
}
