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
}
