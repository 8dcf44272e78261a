import Crypto
@testable import SignedNote

/// The keys that the targets sign with: those of the test vectors, so that these are a corpus too.
enum FuzzKeys {
  static let origin = "maps.example.com/world"
  static let manifest = key(origin, "manifest")
  static let note = key("example.com/a", "a")

  private static func key(_ name: String, _ label: String) -> SigningKey {
    let seed = SHA256.digest(Array("fetchres test vectors: key \(label)".utf8))
    guard let key = SigningKey(name: name, seed: seed.bytes) else {
      fatalError("Fuzz: no key can be made")
    }
    return key
  }
}
