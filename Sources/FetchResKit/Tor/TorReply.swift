/// One reply of tor's control port (control-spec 2.3): a code of three digits, and the text of its
/// lines, at least one.
struct TorReply: Equatable {
  var code: Int
  var lines: [String]

  var isDone: Bool { code == 250 }
}

/// What stands between us and an answer of the control port.
enum TorControlFault: Error, Equatable {
  /// Nobody is there, or the connection broke off: tor may be starting.
  case gone
  /// Asking again would not help, for this reason.
  case useless(String)
}

/// Cuts what a control port sends into replies. Nothing in it is believed to be of any length.
struct TorReplyReader {
  static let maximumLineByteCount = 8_192
  static let maximumLineCount = 32

  private var pending: [UInt8] = []
  private var code: Int?
  private var lines: [String] = []

  /// Takes what was received; the replies that are complete by then.
  ///
  /// - Throws: `useless` for what no tor says to what it is asked here.
  mutating func take(_ bytes: some Collection<UInt8>) throws(TorControlFault) -> [TorReply] {
    var replies: [TorReply] = []
    for byte in bytes {
      guard byte == UInt8(ascii: "\n") else {
        guard pending.count < Self.maximumLineByteCount else {
          throw .useless("sends a line of more than \(Self.maximumLineByteCount) bytes")
        }
        pending.append(byte)
        continue
      }
      if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
      defer { pending.removeAll(keepingCapacity: true) }
      if let reply = try take(line: pending) { replies.append(reply) }
    }
    return replies
  }

  /// `250-text` with more to come, or `250 text` at the end. Data lines, `250+`, answer nothing that is
  /// asked here.
  private mutating func take(line: [UInt8]) throws(TorControlFault) -> TorReply? {
    let digits = line.prefix(3)
    guard line.count >= 4, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }),
      [UInt8(ascii: "-"), UInt8(ascii: " ")].contains(line[3]),
      let number = Int(String(decoding: digits, as: UTF8.self)), number == code ?? number,
      let text = String(validating: line.dropFirst(4), as: UTF8.self),
      text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw .useless("does not speak the language of tor's control port") }
    guard lines.count < Self.maximumLineCount else {
      throw .useless("sends more than \(Self.maximumLineCount) lines at once")
    }
    lines.append(text)
    guard line[3] == UInt8(ascii: " ") else {
      code = number
      return nil
    }
    defer { (code, lines) = (nil, []) }
    return TorReply(code: number, lines: lines)
  }
}

extension TorReply {
  /// Percent of the way into the network, from the answer to `GETINFO status/bootstrap-phase`; nil if
  /// it is none.
  var bootstrapPercent: Int? {
    guard isDone, let line = lines.first, line.hasPrefix("status/bootstrap-phase=") else {
      return nil
    }
    let word = "PROGRESS="
    guard let progress = line.split(separator: " ").first(where: { $0.hasPrefix(word) }),
      let percent = Int(progress.dropFirst(word.count)), (0...100).contains(percent)
    else { return nil }
    return percent
  }
}
