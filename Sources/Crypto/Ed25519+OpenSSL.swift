import CLibcrypto

/// Ed25519 (RFC 8032, pure, no context) over OpenSSL: 32-byte keys and seeds, 64-byte signatures.
public enum Ed25519 {
  public static let keyByteCount = 32
  public static let signatureByteCount = 64

  /// Whether `signature` is one by `publicKey` over `message`; false for a key or a signature of
  /// another length.
  public static func isValid(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool {
    guard publicKey.count == keyByteCount, signature.count == signatureByteCount else {
      return false
    }
    ERR_clear_error()
    guard
      let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count),
      let context = EVP_MD_CTX_new()
    else { return false }
    defer {
      EVP_MD_CTX_free(context)
      EVP_PKEY_free(key)
      ERR_clear_error()
    }
    guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
    return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  /// The 64-byte signature of `message` under the 32-byte `seed`.
  public static func sign(_ message: [UInt8], seed: [UInt8]) -> [UInt8] {
    withPrivateKey(seed) { key in
      guard let context = EVP_MD_CTX_new() else { fatalError("Crypto: out of memory") }
      defer { EVP_MD_CTX_free(context) }
      var signature = [UInt8](repeating: 0, count: signatureByteCount)
      var count = signature.count
      guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
        EVP_DigestSign(context, &signature, &count, message, message.count) == 1,
        count == signatureByteCount
      else { fatalError("Crypto: OpenSSL does not sign with Ed25519") }
      return signature
    }
  }

  /// The 32-byte public key of a 32-byte `seed`.
  public static func publicKey(seed: [UInt8]) -> [UInt8] {
    withPrivateKey(seed) { key in
      var bytes = [UInt8](repeating: 0, count: keyByteCount)
      var count = bytes.count
      guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == keyByteCount else {
        fatalError("Crypto: OpenSSL gives no Ed25519 public key")
      }
      return bytes
    }
  }

  private static func withPrivateKey<Result>(
    _ seed: [UInt8], _ body: (OpaquePointer) -> Result
  ) -> Result {
    precondition(seed.count == keyByteCount, "Crypto: an Ed25519 seed is 32 bytes")
    guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
      fatalError("Crypto: OpenSSL has no Ed25519")
    }
    defer { EVP_PKEY_free(key) }
    return body(key)
  }
}
