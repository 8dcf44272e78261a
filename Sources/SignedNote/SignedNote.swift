import Crypto
import Failure

/// One signature line of a note: `— <name> <base64(id ‖ signature)>`.
public struct NoteSignature: Sendable, Hashable {
  public let name: String
  public let id: UInt32
  public let bytes: [UInt8]

  /// The line, newline included.
  public var line: String {
    let id = (0..<4).map { UInt8(truncatingIfNeeded: self.id >> UInt32(24 - 8 * $0)) }
    return "\(Self.dash) \(name) \(Base64.encode(id + bytes))\n"
  }

  static let dash = "\u{2014}"

  static func hex(_ id: UInt32) -> String {
    Hex.encode((0..<4).map { UInt8(truncatingIfNeeded: id >> UInt32(24 - 8 * $0)) })
  }

  init(name: String, id: UInt32, bytes: [UInt8]) {
    (self.name, self.id, self.bytes) = (name, id, bytes)
  }

  /// Parses a line without its newline.
  init?(_ line: Substring) {
    let parts = line.utf8.split(
      separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, Substring(parts[0]) == Self.dash else { return nil }
    let name = String(Substring(parts[1]))
    guard NoteKey.isName(name), let bytes = Base64.decode(Substring(parts[2])), bytes.count > 4
    else { return nil }
    self.init(
      name: name, id: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) },
      bytes: Array(bytes.dropFirst(4)))
  }
}

/// A C2SP signed note as it came, well formed but not verified: its text cannot be read before
/// ``verify(_:)``.
public struct SignedNote: Sendable {
  /// The very bytes.
  public let bytes: [UInt8]
  public let signatures: [NoteSignature]
  let text: String

  static let maximumSignatures = 100

  /// Takes a note apart.
  ///
  /// - Throws: `note-malformed` unless it is UTF-8 without control characters but newlines, a text
  ///   that ends in a newline, an empty line (the last one separates) and 1 to 100 signature lines
  ///   with canonical base64.
  public init(_ bytes: [UInt8]) throws(FetchFailure) {
    func malformed(_ what: String) -> FetchFailure {
      FetchFailure(.noteMalformed, "not a signed note: \(what)")
    }
    guard let whole = String(validating: bytes, as: UTF8.self) else {
      throw malformed("it is no UTF-8 text")
    }
    var line = 1
    for scalar in whole.unicodeScalars {
      if scalar == "\n" { line += 1 }
      guard scalar == "\n" || scalar.properties.generalCategory != .control else {
        throw malformed("line \(line) has a control character")
      }
    }
    let newline = UInt8(ascii: "\n")
    guard
      let gap = bytes.indices.dropLast().last(where: {
        bytes[$0...].starts(with: [newline, newline])
      })
    else { throw malformed("it has no empty line before its signatures") }
    guard gap + 2 < bytes.count, bytes.last == newline else {
      throw malformed("its last line does not end")
    }
    text = String(decoding: bytes[...gap], as: UTF8.self)
    let lines = bytes[(gap + 2)...].dropLast().split(
      separator: newline, omittingEmptySubsequences: false)
    guard lines.count <= Self.maximumSignatures else {
      throw malformed(
        "it has \(lines.count) signatures; at most \(Self.maximumSignatures) are read")
    }
    let textLines = bytes[...gap].count { $0 == newline }
    var signatures: [NoteSignature] = []
    for (offset, line) in lines.enumerated() {
      guard let signature = NoteSignature(Substring(decoding: line, as: UTF8.self)) else {
        throw malformed("line \(textLines + 2 + offset) is no signature")
      }
      signatures.append(signature)
    }
    self.bytes = bytes
    self.signatures = signatures
  }

  /// Checks the note under the keys that are trusted.
  ///
  /// Lines by other keys are ignored; a line whose name and id are known must verify.
  ///
  /// - Throws: `note-malformed` if a known key signed twice; `bad-signature`; `unknown-key` if none
  ///   of the keys signed.
  public func verify(_ keys: [NoteKey]) throws(FetchFailure) -> VerifiedNote {
    var known: [(key: NoteKey, line: NoteSignature)] = []
    for key in keys where !known.contains(where: { $0.key == key }) {
      let lines = lines(by: key)
      guard let line = lines.first else { continue }
      guard lines.count == 1 else {
        throw FetchFailure(.noteMalformed, "the note is signed twice by \(key.name)")
      }
      known.append((key, line))
    }
    for (key, line) in known {
      guard isValid(line, by: key) else {
        throw FetchFailure(.badSignature, "the signature by \(key) does not verify")
      }
    }
    guard !known.isEmpty else {
      let names = signatures.map { "\($0.name.shortened(to: 200))+\(NoteSignature.hex($0.id))" }
      throw FetchFailure(
        .unknownKey,
        "the note is signed by \(names.prefix(3).joined(separator: ", ")), none of them a trusted key"
      )
    }
    return VerifiedNote(note: self, signers: known.map(\.key))
  }

  /// Whether the note has exactly one line by this key and it verifies.
  public func isSigned(by key: NoteKey) -> Bool {
    let lines = lines(by: key)
    return lines.count == 1 && isValid(lines[0], by: key)
  }

  /// The cosignatures of those witnesses that signed, with the seconds since 1970 that they name.
  ///
  /// - Throws: `note-malformed` if one signed twice, `bad-signature` if a line of one does not verify.
  public func cosignatures(
    by witnesses: [NoteKey]
  ) throws(FetchFailure) -> [(witness: NoteKey, timestamp: UInt64)] {
    var found: [(NoteKey, UInt64)] = []
    for witness in witnesses where witness.algorithm == .cosignature {
      let lines = lines(by: witness)
      guard let line = lines.first else { continue }
      guard lines.count == 1 else {
        throw FetchFailure(.noteMalformed, "the note is cosigned twice by \(witness.name)")
      }
      guard let cosignature = Cosignature(line),
        cosignature.isValid(text: text, publicKey: witness.publicKey)
      else {
        throw FetchFailure(.badSignature, "the cosignature by \(witness) does not verify")
      }
      found.append((witness, cosignature.timestamp))
    }
    return found
  }

  private func lines(by key: NoteKey) -> [NoteSignature] {
    let id = key.id
    // Names are bytes here: String's own comparison takes canonically equivalent ones as equal.
    return signatures.filter { $0.id == id && $0.name.utf8.elementsEqual(key.name.utf8) }
  }

  private func isValid(_ line: NoteSignature, by key: NoteKey) -> Bool {
    switch key.algorithm {
    case .ed25519:
      Ed25519.isValid(
        signature: line.bytes, message: Array(text.utf8), publicKey: key.publicKey)
    case .cosignature:
      Cosignature(line)?.isValid(text: text, publicKey: key.publicKey) == true
    }
  }

  /// The only look at unverified text: the `key` lines of it that parse strictly, to be shown as
  /// unverified in a hint.
  public var unverifiedKeys: [NoteKey] {
    text.utf8.split(separator: UInt8(ascii: "\n")).map { Substring($0) }
      .filter { $0.hasPrefix("key ") }.compactMap { NoteKey($0.dropFirst(4)) }
  }

  /// The bytes of the note with this text, signed by those keys.
  public static func sign(text: String, keys: [SigningKey]) -> [UInt8] {
    precondition(text.utf8.last == UInt8(ascii: "\n"), "SignedNote: a text ends in a newline")
    return Array((text + "\n" + keys.map { $0.signatureLine(text: text) }.joined()).utf8)
  }
}

/// A note that at least one trusted key signed.
public struct VerifiedNote: Sendable {
  public let note: SignedNote
  /// The trusted keys that signed, in the order in which they were given; at least one.
  public let signers: [NoteKey]

  public var text: String { note.text }
  public var bytes: [UInt8] { note.bytes }

  /// The lines of the text. The last one ends like all others.
  public var lines: [Substring] {
    text.utf8.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { Substring($0) }
  }
}
