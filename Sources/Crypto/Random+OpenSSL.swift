import CLibcrypto

/// Random bytes fit for keys.
public enum SecureRandom {
  public static func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    precondition(RAND_priv_bytes(&bytes, Int32(count)) == 1, "Crypto: no random source")
    return bytes
  }
}
