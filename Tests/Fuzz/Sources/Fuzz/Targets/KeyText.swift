@testable import SignedNote

extension FuzzTarget {
  /// Public keys, secret keys and origins: each has one text, and no more than it says.
  static let keyText = FuzzTarget("key-text") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let key = NoteKey(text) { expect(areSame(key.description, text), "another key text") }
    if let key = SigningKey(text) {
      expect(areSame(key.secretText, text), "another secret key text")
      expect(NoteKey(key.key.description) == key.key, "a secret key without a public one")
      expect(!"\(key)".contains(text) && !"\(key.customMirror.children)".contains(text), "shown")
    }
    if let origin = Origin(text) {
      expect(areSame(origin.description, text), "another origin text")
      let name = origin.directoryName
      expect(!name.isEmpty && !name.contains("/") && !name.hasPrefix("."), "the name '\(name)'")
    }
    // The id cannot be guessed: made keys get past it.
    var reader = InputReader(bytes)
    let (algorithm, seed) = (reader.byte(), reader.bytes(32))
    let name = String(decoding: reader.rest, as: UTF8.self)
    if let key = NoteKey(
      name: name, algorithm: algorithm % 2 == 0 ? .ed25519 : .cosignature, publicKey: seed)
    {
      let again = NoteKey(key.description)
      expect(again == key && again.map { areSame($0.name, name) } == true, "a key not read back")
    }
    if let key = SigningKey(name: name, seed: seed) {
      expect(SigningKey(key.secretText)?.key == key.key, "a secret key not read back")
    }
  }
}
