import CLibcrypto

/// A running SHA-256 over OpenSSL's implementation. Not shared between threads.
public struct SHA256: ~Copyable {
  private let context: OpaquePointer
  // Fetched once: looking an algorithm up costs more than hashing a node. Unsafe to the compiler alone:
  // it never changes afterwards, and OpenSSL lets threads share a fetched algorithm.
  private nonisolated(unsafe) static let algorithm: OpaquePointer? = EVP_MD_fetch(
    nil, "SHA256", nil)

  public init() {
    guard let context = EVP_MD_CTX_new() else { fatalError("Crypto: out of memory") }
    self.context = context
    reset()
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Begins again.
  public mutating func reset() {
    precondition(EVP_DigestInit_ex2(context, Self.algorithm, nil) == 1, "Crypto: no SHA-256")
  }

  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    precondition(
      EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "Crypto: SHA-256 failed")
  }

  public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  public mutating func update(_ digest: Digest) { digest.withBytes { update($0) } }

  public mutating func update(byte: UInt8) {
    withUnsafeBytes(of: byte) { update($0) }
  }

  /// The digest of everything since the last reset; a reset has to follow before further input.
  public mutating func finish() -> Digest {
    Digest { output in
      precondition(
        EVP_DigestFinal_ex(context, output.bindMemory(to: UInt8.self).baseAddress, nil) == 1,
        "Crypto: SHA-256 failed")
    }
  }

  public static func digest(_ bytes: [UInt8]) -> Digest {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finish()
  }
}
