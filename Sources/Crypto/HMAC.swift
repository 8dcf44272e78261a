/// HMAC-SHA-256 (RFC 2104): shows that somebody knows a secret without showing the secret.
public enum HMAC {
  private static let blockByteCount = 64

  /// - Parameter message: feeds the message, which may come in pieces.
  public static func digest(key: [UInt8], _ message: (inout SHA256) -> Void) -> Digest {
    var key = key.count > blockByteCount ? SHA256.digest(key).bytes : key
    key += [UInt8](repeating: 0, count: blockByteCount - key.count)
    var hash = SHA256()
    hash.update(key.map { $0 ^ 0x36 })
    message(&hash)
    let inner = hash.finish()
    hash.reset()
    hash.update(key.map { $0 ^ 0x5C })
    hash.update(inner)
    return hash.finish()
  }
}
