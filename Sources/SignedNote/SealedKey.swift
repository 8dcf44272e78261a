import Crypto

/// A secret key under a password: the public key, so that it can be told apart unopened, and an
/// encrypted PKCS#8 key in PEM (RFC 5958, RFC 8018) which the `openssl` command opens too.
///
///     fetchres secret key maps.example.com/world+2b8f0c11+AYk…
///     -----BEGIN ENCRYPTED PRIVATE KEY-----
///     …
///     -----END ENCRYPTED PRIVATE KEY-----
public struct SealedKey: Sendable {
  /// What the text says; the key inside has to be that of it.
  public let key: NoteKey
  /// The whole text to store.
  public let text: String

  private static let prefix = "fetchres secret key "

  public init(_ key: SigningKey, password: SecretBytes) {
    self.key = key.key
    var seed = key.seed
    guard let container = PrivateKey(ed25519Seed: SecretBytes(taking: &seed)) else {
      preconditionFailure("SignedNote: a seed is a key")
    }
    text = "\(Self.prefix)\(key.key)\n\(container.encryptedPEM(password))"
  }

  /// Nil for a text that does not begin like one.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.prefix), let line = text.split(separator: "\n").first,
      let key = NoteKey(line.dropFirst(Self.prefix.count).trimmingSuffix { $0 == "\r" })
    else { return nil }
    (self.key, self.text) = (key, text)
  }

  /// - Throws: `notOpened` for a wrong password or a damaged container, which nothing tells apart;
  ///   `malformed` for no container, or one with another key.
  public func open(_ password: SecretBytes) throws(PrivateKey.Refusal) -> SigningKey {
    let container = try PrivateKey(encryptedPEM: Array(text.utf8), password: password)
    guard let seed = container.ed25519Seed,
      let opened = SigningKey(name: key.name, seed: seed.withBytes { Array($0) }), opened.key == key
    else { throw .malformed }
    return opened
  }
}

extension Substring {
  fileprivate func trimmingSuffix(_ isTrimmed: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, isTrimmed(last) { rest.removeLast() }
    return rest
  }
}
