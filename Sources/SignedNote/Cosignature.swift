import Crypto

/// A witness's timestamped signature on a checkpoint (C2SP tlog-cosignature, `cosignature/v1`): an
/// 8-byte big-endian time and an Ed25519 signature over time and note text.
public struct Cosignature: Sendable, Hashable {
  /// Seconds since 1970.
  public let timestamp: UInt64
  let signature: [UInt8]

  /// Nil unless the line holds exactly 72 bytes.
  public init?(_ line: NoteSignature) {
    guard line.bytes.count == 8 + Ed25519.signatureByteCount else { return nil }
    timestamp = line.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    signature = Array(line.bytes.dropFirst(8))
  }

  func isValid(text: String, publicKey: [UInt8]) -> Bool {
    let message = Array("cosignature/v1\ntime \(timestamp)\n\(text)".utf8)
    return Ed25519.isValid(signature: signature, message: message, publicKey: publicKey)
  }
}
