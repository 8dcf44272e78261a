import Crypto
import Failure

/// What a key of a signed note signs with: the algorithm byte of C2SP signed-note.
public enum NoteAlgorithm: UInt8, Sendable {
  case ed25519 = 0x01
  /// Timestamped cosignatures of witnesses (C2SP tlog-cosignature).
  case cosignature = 0x04
}

/// The public key of a note: `<name>+<8 hex>+<base64(algorithm ‖ key)>` (C2SP signed-note).
public struct NoteKey: Sendable, Hashable, CustomStringConvertible {
  public let name: String
  public let algorithm: NoteAlgorithm
  /// 32 bytes.
  public let publicKey: [UInt8]

  /// Nil unless the name may stand in a note and the key has 32 bytes.
  public init?(name: String, algorithm: NoteAlgorithm = .ed25519, publicKey: [UInt8]) {
    guard Self.isName(name), publicKey.count == Ed25519.keyByteCount else { return nil }
    (self.name, self.algorithm, self.publicKey) = (name, algorithm, publicKey)
  }

  /// Parses the text form; nothing around it is tolerated.
  public init?(_ text: some StringProtocol) {
    guard let parts = KeyText(text), let algorithm = NoteAlgorithm(rawValue: parts.algorithm),
      let key = NoteKey(name: parts.name, algorithm: algorithm, publicKey: parts.key),
      key.id == parts.id
    else { return nil }
    self = key
  }

  /// The first four bytes of `SHA-256(name ‖ 0x0A ‖ algorithm ‖ key)`, as a big-endian number.
  public var id: UInt32 {
    let input = Array(name.utf8) + [0x0A, algorithm.rawValue] + publicKey
    return SHA256.digest(input).bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  public var description: String {
    KeyText(name: name, id: id, algorithm: algorithm.rawValue, key: publicKey).text
  }

  /// The origin that this key speaks for; nil if its name is none.
  public var origin: Origin? { algorithm == .ed25519 ? Origin(name) : nil }

  /// A name in a note: not empty, no white space, no `+`, no control character.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty
      && name.unicodeScalars.allSatisfy {
        !$0.properties.isWhitespace && $0 != "+" && $0.properties.generalCategory != .control
      }
  }
}

/// A secret key of a note: `PRIVATE+KEY+<name>+<8 hex>+<base64(0x01 ‖ seed)>`.
///
/// Described and mirrored as its public key, so that the seed does not get into a message, a log or a
/// dump by accident; only ``secretText`` gives it out.
public struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
  public let key: NoteKey
  let seed: [UInt8]

  private static let prefix = "PRIVATE+KEY+"

  /// A new key for `origin`.
  public static func generate(_ origin: Origin) -> SigningKey {
    guard let key = SigningKey(name: origin.name, seed: SecureRandom.bytes(Ed25519.keyByteCount))
    else { preconditionFailure("SignedNote: an origin is a name") }
    return key
  }

  init?(name: String, seed: [UInt8]) {
    guard seed.count == Ed25519.keyByteCount,
      let key = NoteKey(name: name, publicKey: Ed25519.publicKey(seed: seed))
    else { return nil }
    (self.key, self.seed) = (key, seed)
  }

  /// Parses the text form; nothing around it is tolerated. The id has to be that of the public key.
  public init?(_ text: some StringProtocol) {
    // Bytes, not characters: to hasPrefix a Kelvin sign is a K.
    let bytes = String(text).utf8
    guard bytes.starts(with: Self.prefix.utf8),
      let parts = KeyText(Substring(bytes.dropFirst(Self.prefix.utf8.count))),
      parts.algorithm == NoteAlgorithm.ed25519.rawValue,
      let key = SigningKey(name: parts.name, seed: parts.key), key.key.id == parts.id
    else { return nil }
    self = key
  }

  public var description: String { "secret key of \(key)" }

  public var customMirror: Mirror { Mirror(self, children: ["key": key.description]) }

  /// The text to store. Whoever reads it can sign.
  public var secretText: String {
    Self.prefix
      + KeyText(
        name: key.name, id: key.id, algorithm: NoteAlgorithm.ed25519.rawValue, key: seed
      ).text
  }

  /// The signature line of a note with this text, newline included.
  public func signatureLine(text: String) -> String {
    let signature = Ed25519.sign(Array(text.utf8), seed: seed)
    return NoteSignature(name: key.name, id: key.id, bytes: signature).line
  }
}

/// The shape that public and secret keys share: name, id and algorithm-prefixed bytes.
private struct KeyText {
  var name: String
  var id: UInt32
  var algorithm: UInt8
  var key: [UInt8]

  init(name: String, id: UInt32, algorithm: UInt8, key: [UInt8]) {
    (self.name, self.id, self.algorithm, self.key) = (name, id, algorithm, key)
  }

  init?(_ text: some StringProtocol) {
    let parts = String(text).utf8.split(
      separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let id = Hex.decode(Substring(parts[1])), id.count == 4,
      let bytes = Base64.decode(Substring(parts[2])), let algorithm = bytes.first
    else { return nil }
    self.init(
      name: String(Substring(parts[0])), id: id.reduce(0) { $0 << 8 | UInt32($1) },
      algorithm: algorithm,
      key: Array(bytes.dropFirst()))
  }

  var text: String { "\(name)+\(NoteSignature.hex(id))+\(Base64.encode([algorithm] + key))" }
}
