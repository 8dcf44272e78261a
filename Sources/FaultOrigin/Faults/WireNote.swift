import Failure

/// A note taken apart without a look at what it says: text, an empty line, signatures.
struct WireNote: Sendable, Equatable {
  var lines: [String]
  var signatures: [String]

  init?(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self), text.hasSuffix("\n") else {
      return nil
    }
    let all = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
    guard let empty = all.lastIndex(of: "") else { return nil }
    lines = Array(all[..<empty])
    signatures = Array(all[(empty + 1)...])
  }

  var bytes: [UInt8] {
    Array((lines + [""] + signatures).map { $0 + "\n" }.joined().utf8)
  }

  /// The value behind a word; nil if no line begins with it.
  func value(_ word: String) -> String? {
    lines.first { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
  }

  // MARK: What can be wrong

  static func withReturns(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { $0 == UInt8(ascii: "\n") ? [UInt8(ascii: "\r"), $0] : [$0] }
  }

  static func withTab(_ bytes: [UInt8]) -> [UInt8]? {
    guard let at = bytes.firstIndex(of: UInt8(ascii: " ")) else { return nil }
    var bytes = bytes
    bytes[at] = UInt8(ascii: "\t")
    return bytes
  }

  mutating func padSize() {
    lines = lines.map { $0.hasPrefix("size ") ? "size 0" + $0.dropFirst(5) : $0 }
  }

  /// Changes the bytes of every signature: four of the key's id, then the signature itself.
  mutating func changeSignatures(_ change: (inout [UInt8]) -> Void) {
    signatures = signatures.map { line in
      let words = line.split(separator: " ")
      guard words.count == 3, var bytes = Base64.decode(words[2]), bytes.count > 20 else {
        return line
      }
      change(&bytes)
      return "\(words[0]) \(words[1]) \(Base64.encode(bytes))"
    }
  }

  /// Ends every signature with other characters.
  mutating func endSignatures(_ end: String) {
    signatures = signatures.map { $0.dropLast(end.count) + end }
  }

  mutating func fill(to count: Int, _ draw: inout Draw) {
    while signatures.count < count { signatures.append(Self.junk(&draw)) }
  }

  /// A signature by a key that nobody knows.
  static func junk(_ draw: inout Draw) -> String {
    let bytes = (0..<68).map { _ in UInt8(truncatingIfNeeded: draw.next()) }
    return "\u{2014} junk.example/\(draw.below(1_000_000)) \(Base64.encode(bytes))"
  }
}
