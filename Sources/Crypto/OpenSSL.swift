import CLibcrypto

/// The OpenSSL library as a whole.
public enum OpenSSL {
  private static let prepared: Void = {
    // Its exit handler would free state under the feet of threads that still run.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }()

  /// To be called before libcurl is set up, which would otherwise initialise OpenSSL its own way.
  public static func prepare() { prepared }

  /// Runs one call on a clean error queue: what an earlier call left there would be taken for the
  /// reason of this one, here or in libcurl.
  static func call<Value>(_ body: () -> Value) -> Value {
    ERR_clear_error()
    return body()
  }

  /// Whether the last call left a reason behind.
  static var hasError: Bool { ERR_peek_error() != 0 }

  /// What a body writes into memory that is wiped afterwards; nil if it answers false.
  static func written(_ body: (OpaquePointer) -> Bool) -> SecretBytes? {
    guard let stream = BIO_new(BIO_s_secmem()) else { fatalError("Crypto: out of memory") }
    defer { BIO_free(stream) }
    guard body(stream) else { return nil }
    var start: UnsafeMutablePointer<CChar>?
    let count = fetchres_bio_bytes(stream, &start)
    return SecretBytes(copying: UnsafeRawBufferPointer(start: start, count: max(0, Int(count))))
  }

  /// Lends bytes as a stream to read from.
  static func withStream<Result>(
    _ bytes: UnsafeRawBufferPointer, _ body: (OpaquePointer) -> Result
  ) -> Result {
    guard let stream = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
      fatalError("Crypto: out of memory")
    }
    defer { BIO_free(stream) }
    return body(stream)
  }
}
