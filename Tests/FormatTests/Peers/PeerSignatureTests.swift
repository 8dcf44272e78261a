import Crypto
import Failure
import Testing

/// The Ed25519 cases of Wycheproof and C2SP CCTV.
@Suite(.enabled(if: PeerVectors.areThere, "FETCHRES_PEER_VECTORS is not set"))
struct PeerSignatureTests {
  private struct Wycheproof: Decodable {
    struct Group: Decodable {
      struct Key: Decodable { let pk: String }
      struct Case: Decodable {
        let tcId: Int
        let msg: String
        let sig: String
        let result: String
      }
      let publicKey: Key
      let tests: [Case]
    }
    let testGroups: [Group]
  }

  private struct EdgeCase: Decodable {
    let key: String
    let sig: String
    let msg: String
  }

  @Test func `every case of Wycheproof has the same verdict`() throws {
    let file = try PeerVectors.json(
      Wycheproof.self, "wycheproof/testvectors_v1/ed25519_test.json")
    var (cases, valid) = (0, 0)
    for group in file.testGroups {
      let key = try #require(Hex.decode(group.publicKey.pk))
      for test in group.tests {
        let isValid = Ed25519.isValid(
          signature: try #require(Hex.decode(test.sig)),
          message: try #require(Hex.decode(test.msg)), publicKey: key)
        #expect(isValid == (test.result == "valid"), "case \(test.tcId)")
        cases += 1
        valid += isValid ? 1 : 0
      }
    }
    #expect(cases == 151 && valid == 88)
  }

  /// These cases carry no verdict, as implementations differ on them. What counts here is that a
  /// change is seen: two builds that disagree about a signature are two opinions about a release.
  @Test func `the verdicts on the edge cases are those of OpenSSL as it was first seen`() throws {
    let cases = try PeerVectors.json([EdgeCase].self, "c2sp-cctv/ed25519/ed25519vectors.json")
    let verdicts = try cases.map { test in
      Ed25519.isValid(
        signature: try #require(Hex.decode(test.sig)), message: Array(test.msg.utf8),
        publicKey: try #require(Hex.decode(test.key)))
    }
    #expect(verdicts.count == 914)
    #expect(verdicts.count { $0 } == 208)
    let text = verdicts.map { $0 ? "1" : "0" }.joined()
    #expect(
      SHA256.digest(Array(text.utf8)).description
        == "84f50637f4b7703cd2a19661ed486821790b449e738be7878086d2d0348e4262")
  }
}
