import Failure
import Testing

@testable import SignedNote

@Suite struct KeyVectorTests {
  struct Fields: Decodable, Sendable {
    enum Kind: String, Decodable { case `public`, secret }

    let kind: Kind
    let text: String
    let name: String?
    let keyId: VectorBytes?
    let publicKey: VectorBytes?
    let seed: VectorBytes?
    let isOrigin: Bool?
  }

  /// The vectors speak of the keys that sign manifests and checkpoints. A witness's key has another
  /// algorithm byte and is none of them.
  private func key(_ fields: Fields) -> NoteKey? {
    switch fields.kind {
    case .public: NoteKey(fields.text).flatMap { $0.algorithm == .ed25519 ? $0 : nil }
    case .secret: SigningKey(fields.text)?.key
    }
  }

  @Test(arguments: try VectorFile<Fields>.all(in: "key"))
  func `a key has the verdict of its vector`(_ file: VectorFile<Fields>) throws {
    let fields = file.fields
    try #require(["accept", "refuse"].contains(file.verdict))
    let key = key(fields)
    #expect((key != nil) == (file.verdict == "accept"), "\(file.about)")
    guard let key else { return }
    #expect(key.name == fields.name)
    #expect(key.publicKey == fields.publicKey?.bytes)
    #expect(
      Hex.encode((0..<4).map { UInt8(truncatingIfNeeded: key.id >> UInt32(24 - 8 * $0)) })
        == fields.keyId.map { Hex.encode($0.bytes) })
    #expect((key.origin != nil) == fields.isOrigin)
    #expect(key.origin.map(\.name) == (fields.isOrigin == true ? fields.name : nil))
    switch fields.kind {
    case .public: #expect(key.description == fields.text)
    case .secret:
      let secret = try #require(SigningKey(fields.text))
      let seed = try #require(fields.seed).bytes
      #expect(secret.secretText == fields.text)
      #expect(SigningKey(name: key.name, seed: seed)?.secretText == fields.text)
    }
  }
}
