import System

/// An answer as bytes on the wire, so that it can break every rule.
struct WireAnswer: Sendable {
  /// Without its line end; nil for an answer that begins with its body, or has none at all.
  var statusLine: String?
  /// Sent as they are.
  var fields: [HeaderFields.Field] = []
  var body: [Piece] = []
  var ending = Ending.keep
  /// Bytes a second for this answer alone.
  var rate: Int64?

  enum Piece: Sendable {
    case bytes([UInt8])
    case file(Descriptor, Range<Int64>)
    case made(MadeBytes, Range<Int64>)
    /// Nothing for so many seconds.
    case silence(Double)
    /// One byte every so many seconds.
    case trickle([UInt8], every: Double)

    /// The bytes that it puts on the wire.
    var count: Int64 {
      switch self {
      case .bytes(let bytes), .trickle(let bytes, _): Int64(bytes.count)
      case .file(_, let range), .made(_, let range): Int64(range.count)
      case .silence: 0
      }
    }
  }

  /// What becomes of the connection behind it.
  enum Ending: Sendable, Equatable {
    case keep
    /// An orderly end.
    case close
    /// A reset that throws away what is under way.
    case reset
    /// So many seconds of silence, then an end.
    case hold(Double)
  }

  /// The answer as the server means it.
  init(_ answer: Answer, now: Int64) {
    statusLine = Self.statusLine(answer.status)
    fields = [HeaderFields.Field(name: "Date", value: HTTPDate.text(now))] + answer.fields.all
    if answer.closes {
      fields.append(HeaderFields.Field(name: "Connection", value: "close"))
      ending = .close
    }
    switch answer.body {
    case .none: body = []
    case .text(let text): body = [.bytes(Array(text.utf8))]
    case .file(let descriptor, let range): body = [.file(descriptor, range)]
    }
  }

  static func statusLine(_ status: Answer.Status) -> String {
    "HTTP/1.1 \(status.code) \(status.reason)"
  }

  /// Status line and fields with the empty line behind them; empty if there is no status line.
  var head: String {
    guard let statusLine else { return "" }
    return statusLine + "\r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
  }

  var bodyCount: Int64 { body.reduce(0) { $0 + $1.count } }

  subscript(_ name: String) -> String? {
    get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
    set {
      let at = fields.firstIndex { $0.name.lowercased() == name.lowercased() }
      fields.removeAll { $0.name.lowercased() == name.lowercased() }
      guard let newValue else { return }
      fields.insert(.init(name: name, value: newValue), at: min(at ?? fields.count, fields.count))
    }
  }

  /// Another body, and the length that fits it.
  mutating func replaceBody(_ pieces: [Piece]) {
    body = pieces
    self["Content-Length"] = String(bodyCount)
  }

  /// Keeps the first `count` bytes of the body; the announced length stays.
  mutating func cutBody(to count: Int64) {
    var left = count
    var kept: [Piece] = []
    for piece in body {
      if left <= 0 { break }
      kept.append(piece.count > left ? piece.prefix(left) : piece)
      left -= piece.count
    }
    body = kept
  }
}

extension WireAnswer.Piece {
  func prefix(_ count: Int64) -> Self {
    switch self {
    case .bytes(let bytes): .bytes(Array(bytes.prefix(Int(count))))
    case .file(let file, let range): .file(file, range.lowerBound..<range.lowerBound + count)
    case .made(let made, let range): .made(made, range.lowerBound..<range.lowerBound + count)
    case .trickle(let bytes, let every): .trickle(Array(bytes.prefix(Int(count))), every: every)
    case .silence: self
    }
  }
}

/// Bytes of which each follows from its offset.
enum MadeBytes: Sendable, Equatable {
  case zeros
  case noise(UInt64)

  func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) {
    switch self {
    case .zeros: buffer.initializeMemory(as: UInt8.self, repeating: 0)
    case .noise(let seed):
      var word: UInt64 = 0
      for index in buffer.indices {
        let position = UInt64(bitPattern: offset) &+ UInt64(index)
        if index == 0 || position & 7 == 0 { word = Draw.mixed(seed ^ (position >> 3)) }
        buffer[index] = UInt8(truncatingIfNeeded: word >> (8 * (position & 7)))
      }
    }
  }

  func bytes(_ range: Range<Int64>) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    bytes.withUnsafeMutableBytes { fill($0, at: range.lowerBound) }
    return bytes
  }
}
