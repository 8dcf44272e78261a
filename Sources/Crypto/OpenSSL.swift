import CLibcrypto

/// The OpenSSL library as a whole.
public enum OpenSSL {
  private static let prepared: Void = {
    // Its exit handler would free state under the feet of threads that still run.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }()

  /// To be called before libcurl is set up, which would otherwise initialise OpenSSL its own way.
  public static func prepare() { prepared }
}
