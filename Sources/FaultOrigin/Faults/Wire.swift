import System

/// Puts answers on a connection, no faster than its rate.
struct Wire {
  let socket: Socket
  /// Bytes a second; nil for no limit.
  let rate: Int64?
  /// Told how many bytes of a body are sent next, before they are.
  let onSending: (Int64) -> Void

  private static let chunk: Int64 = 65_536

  /// What is done behind an answer.
  enum Next: Equatable {
    case another
    case linger
    case end
  }

  /// Nil as soon as the peer has gone, or the server wants to stop.
  func send(_ answer: WireAnswer) throws(SystemError) -> Next? {
    let pace = answer.rate ?? rate
    try socket.send(answer.head, isFollowed: answer.bodyCount > 0 && pace == nil)
    for piece in answer.body {
      guard try send(piece, pace) else { return nil }
    }
    switch answer.ending {
    case .keep: return .another
    case .close: return .linger
    case .reset:
      try socket.resetOnClose()
      return .end
    case .hold(let seconds):
      return socket.waitForEnd(within: seconds) ? nil : .linger
    }
  }

  /// False when the connection has ended.
  private func send(_ piece: WireAnswer.Piece, _ pace: Int64?) throws(SystemError) -> Bool {
    switch piece {
    case .silence(let seconds): return !socket.waitForEnd(within: seconds)
    case .trickle(let bytes, let every):
      for byte in bytes {
        onSending(1)
        try socket.send([byte])
        if socket.waitForEnd(within: every) { return false }
      }
      return true
    case .bytes(let bytes):
      return try inChunks(0..<Int64(bytes.count), pace) { range throws(SystemError) in
        try socket.send(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
      }
    case .file(let file, let range):
      return try inChunks(range, pace) { range throws(SystemError) in
        try socket.sendFile(file, range)
      }
    case .made(let made, let range):
      return try inChunks(range, pace) { range throws(SystemError) in
        try socket.send(made.bytes(range))
      }
    }
  }

  private func inChunks(
    _ range: Range<Int64>, _ pace: Int64?, _ body: (Range<Int64>) throws(SystemError) -> Void
  ) throws(SystemError) -> Bool {
    let start = Clocks.monotonic()
    // Some twenty pieces a second, so that a slow answer is a steady one.
    let size = pace.map { max(1, min(Self.chunk, $0 / 20)) } ?? Self.chunk
    var offset = range.lowerBound
    while offset < range.upperBound {
      let end = min(range.upperBound, offset + size)
      onSending(end - offset)
      try body(offset..<end)
      offset = end
      if let pace {
        let due = start + Double(offset - range.lowerBound) / Double(pace)
        let wait = due - Clocks.monotonic()
        if wait > 0, socket.waitForEnd(within: wait) { return false }
      }
    }
    return true
  }
}

extension Socket {
  func send(_ bytes: [UInt8]) throws(SystemError) {
    let result: Result<Void, SystemError> = bytes.withUnsafeBytes { bytes in
      do throws(SystemError) { return .success(try send(bytes)) } catch { return .failure(error) }
    }
    try result.get()
  }
}
