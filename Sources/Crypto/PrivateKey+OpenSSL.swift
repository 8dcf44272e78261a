import CLibcrypto

/// A private key of any kind that OpenSSL knows, and its two texts: PKCS#8 in PEM (RFC 5958, RFC 7468),
/// plain or encrypted by PBES2 (RFC 8018: PBKDF2 with HMAC-SHA-256, AES-256-CBC).
public final class PrivateKey: @unchecked Sendable {
  // Unchecked: never changed; OpenSSL lets threads share a key for reading.
  let handle: OpaquePointer

  /// PBKDF2 rounds: what is advised for HMAC-SHA-256 today, a quarter of a second here.
  static let iterations: Int32 = 600_000
  /// Rounds beyond which a file asks for work, not for a password.
  static let maximumIterations: Int64 = 10_000_000

  init(owning handle: OpaquePointer) { self.handle = handle }

  deinit { EVP_PKEY_free(handle) }

  /// The Ed25519 key of a 32-byte seed.
  public convenience init?(ed25519Seed seed: SecretBytes) {
    let made = seed.withBytes { bytes in
      OpenSSL.call {
        EVP_PKEY_new_raw_private_key(
          EVP_PKEY_ED25519, nil, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
      }
    }
    guard let made else { return nil }
    self.init(owning: made)
  }

  /// The seed of an Ed25519 key; nil for every other kind.
  public var ed25519Seed: SecretBytes? {
    guard EVP_PKEY_get_id(handle) == EVP_PKEY_ED25519 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Ed25519.keyByteCount)
    var count = bytes.count
    guard OpenSSL.call({ EVP_PKEY_get_raw_private_key(handle, &bytes, &count) }) == 1,
      count == bytes.count
    else { return nil }
    return SecretBytes(taking: &bytes)
  }

  /// Such as `RSA` or `EC`.
  public var kind: String { EVP_PKEY_get0_type_name(handle).map { String(cString: $0) } ?? "key" }

  // MARK: Texts

  public enum Refusal: Error, Sendable, Equatable {
    /// No such text, or one of another kind.
    case malformed
    /// Decryption fails: nothing in the container tells a wrong password from damage.
    case notOpened
  }

  /// The plain text, for those who need the key itself.
  public var pem: SecretBytes {
    let text = OpenSSL.written { stream in
      OpenSSL.call { PEM_write_bio_PKCS8PrivateKey(stream, handle, nil, nil, 0, nil, nil) } == 1
    }
    guard let text else { fatalError("Crypto: OpenSSL does not write a key") }
    return text
  }

  public func encryptedPEM(_ password: SecretBytes) -> String {
    guard let plain = OpenSSL.call({ EVP_PKEY2PKCS8(handle) }) else {
      fatalError("Crypto: OpenSSL does not write a key")
    }
    defer { PKCS8_PRIV_KEY_INFO_free(plain) }
    var salt = SecureRandom.bytes(16)
    let sealed = password.withBytes { password in
      OpenSSL.call {
        PKCS8_encrypt(
          -1, EVP_aes_256_cbc(), password.bindMemory(to: CChar.self).baseAddress,
          Int32(password.count), &salt, Int32(salt.count), Self.iterations, plain)
      }
    }
    guard let sealed else { fatalError("Crypto: OpenSSL does not encrypt a key") }
    defer { X509_SIG_free(sealed) }
    let text = OpenSSL.written { stream in
      OpenSSL.call { PEM_write_bio_PKCS8(stream, sealed) } == 1
    }
    guard let text else { fatalError("Crypto: OpenSSL does not write a key") }
    return text.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads the first plain key of a text.
  public convenience init(pem: SecretBytes) throws(Refusal) {
    let read = pem.withBytes { bytes in
      OpenSSL.withStream(bytes) { stream in
        OpenSSL.call {
          // With a callback that knows no password nothing is ever asked on the terminal.
          PEM_read_bio_PrivateKey(stream, nil, { _, _, _, _ in -1 }, nil)
        }
      }
    }
    guard let read else { throw .malformed }
    self.init(owning: read)
  }

  /// Reads the first encrypted key of a text.
  public convenience init(encryptedPEM text: [UInt8], password: SecretBytes) throws(Refusal) {
    let sealed = text.withUnsafeBytes { bytes in
      OpenSSL.withStream(bytes) { stream in
        OpenSSL.call { PEM_read_bio_PKCS8(stream, nil, { _, _, _, _ in -1 }, nil) }
      }
    }
    guard let sealed else { throw .malformed }
    defer { X509_SIG_free(sealed) }
    var algorithm: UnsafePointer<X509_ALGOR>?
    X509_SIG_get0(sealed, &algorithm, nil)
    var method = fetchres_pbe()
    guard let algorithm, fetchres_read_pbe(algorithm, &method),
      method.iterations <= Self.maximumIterations
    else { throw .malformed }
    let plain = password.withBytes { password in
      OpenSSL.call {
        PKCS8_decrypt(
          sealed, password.bindMemory(to: CChar.self).baseAddress, Int32(password.count))
      }
    }
    guard let plain else { throw .notOpened }
    defer { PKCS8_PRIV_KEY_INFO_free(plain) }
    guard let read = OpenSSL.call({ EVP_PKCS82PKEY(plain) }) else { throw .notOpened }
    self.init(owning: read)
  }
}
