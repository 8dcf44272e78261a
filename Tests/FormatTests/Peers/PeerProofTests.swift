import Crypto
import Failure
import Foundation
import MerkleTree
import Testing

/// The proofs of transparency-dev/merkle.
@Suite(.enabled(if: PeerVectors.areThere, "FETCHRES_PEER_VECTORS is not set"))
struct PeerProofTests {
  private static let folder = "transparency-dev-merkle/testdata"

  private struct Inclusion: Decodable {
    let leafIdx: UInt64
    let treeSize: UInt64
    let root: Data?
    let leafHash: Data?
    let proof: [Data]?
    let desc: String
    let wantErr: Bool
  }

  private struct Consistency: Decodable {
    let size1: UInt64
    let size2: UInt64
    let root1: Data?
    let root2: Data?
    let proof: [Data]?
    let desc: String
    let wantErr: Bool
  }

  /// Sizes beyond 2^63-1 are refused by whoever reads them.
  private func size(_ size: UInt64) throws(FetchFailure) -> Int64 {
    guard let size = Decimal.decode(String(size)) else {
      throw FetchFailure(.proofMalformed, "no size")
    }
    return size
  }

  @Test func `every inclusion proof has the same verdict`() throws {
    let files = try PeerVectors.files(below: "\(Self.folder)/inclusion")
    var accepted = 0
    for file in files {
      let peer = try PeerVectors.json(Inclusion.self, file)
      let refusal = category { () throws(FetchFailure) in
        try InclusionProof.verify(
          leaf: Array(peer.leafHash ?? Data()), index: size(peer.leafIdx),
          count: size(peer.treeSize), siblings: (peer.proof ?? []).map { Array($0) },
          root: Array(peer.root ?? Data()))
      }
      #expect((refusal != nil) == peer.wantErr, "\(file): \(peer.desc)")
      accepted += refusal == nil ? 1 : 0
    }
    #expect(files.count == 98 && accepted == 6)
  }

  @Test func `every consistency proof has the same verdict`() throws {
    let files = try PeerVectors.files(below: "\(Self.folder)/consistency")
    var (accepted, exceptions) = (0, 0)
    for file in files {
      let peer = try PeerVectors.json(Consistency.self, file)
      let (root1, root2) = (Array(peer.root1 ?? Data()), Array(peer.root2 ?? Data()))
      let refusal = category { () throws(FetchFailure) in
        try ConsistencyProof.verify(
          size1: size(peer.size1), root1: root1, size2: size(peer.size2), root2: root2,
          proof: (peer.proof ?? []).map { Array($0) })
      }
      // One good case compares two roots of 12 bytes; here a root has 32.
      if !peer.wantErr, root1.count == 12 {
        #expect(refusal == .proofMalformed)
        exceptions += 1
        continue
      }
      #expect((refusal != nil) == peer.wantErr, "\(file): \(peer.desc)")
      accepted += refusal == nil ? 1 : 0
    }
    #expect(files.count == 98 && accepted == 5 && exceptions == 1)
  }

  /// The leaves of the original test of RFC 6962 implementations, with their published roots.
  @Test func `the reference leaves of RFC 6962 have their roots`() {
    let entries = [
      "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
      "606162636465666768696a6b6c6d6e6f",
    ]
    var hasher = TreeHasher()
    var builder = TreeBuilder()
    var roots: [String] = []
    for entry in entries {
      builder.append(hasher.leaf(Hex.decode(entry) ?? [])) { _, _ in }
      roots.append(builder.root().description)
    }
    #expect(roots[2] == "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77")
    #expect(roots[4] == "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4")
    #expect(roots[7] == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328")
  }
}
