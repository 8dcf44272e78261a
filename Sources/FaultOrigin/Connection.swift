import System

/// One connection, from its first byte to its end, on the thread that calls ``serve()``.
struct Connection: Sendable {
  let socket: Socket
  let site: StaticSite
  /// Seconds that the peer may let pass without a request, within the head of one, or without taking
  /// a byte of an answer.
  let idleTimeout: Double

  private static let chunk = 16_384

  func serve() {
    Signals.holdBackBrokenPipe()
    // An error here means that the peer went or let its time run out, or that the file became shorter
    // while it was sent. All that is left is to end the connection, which tells the peer.
    try? serveRequests()
  }

  private func serveRequests() throws(SystemError) {
    try socket.sendAtOnce()
    try socket.setReceiveTimeout(idleTimeout)
    try socket.setSendTimeout(idleTimeout)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
    defer { buffer.deallocate() }
    var reader = RequestReader()
    while let answer = try nextAnswer(&reader, buffer) {
      try answer.send(over: socket, now: Clocks.wall())
      if answer.closes { return try linger(buffer) }
    }
  }

  /// Waits for a request and decides its answer; nil once the peer wants nothing more.
  private func nextAnswer(
    _ reader: inout RequestReader, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Answer? {
    var deadline: Double?
    while true {
      switch reader.next() {
      case .request(let head): return site.answer(head, now: Clocks.wall())
      case .refused(let refusal): return Answer(refusing: refusal.status, closes: true)
      case .needsMore: break
      }
      if !reader.isEmpty {
        // Against one byte now and then: a head as a whole has its time too.
        if let deadline, Clocks.monotonic() >= deadline {
          return Answer(refusing: RequestRefusal.late.status, closes: true)
        }
        deadline = deadline ?? Clocks.monotonic() + idleTimeout
      }
      let count: Int
      do throws(SystemError) {
        count = try socket.receive(into: buffer)
      } catch {
        guard error.isTimeout, !reader.isEmpty else { throw error }
        return Answer(refusing: RequestRefusal.late.status, closes: true)
      }
      if count == 0 { return nil }
      reader.append(buffer[..<count])
    }
  }

  /// Ends a connection on which bytes may still arrive. Closing at once would answer them with a
  /// reset, and that would take away what the peer has not read yet (RFC 9112 section 9.6).
  private func linger(_ buffer: UnsafeMutableRawBufferPointer) throws(SystemError) {
    socket.finishSending()
    let patience = min(2, idleTimeout)
    try socket.setReceiveTimeout(patience)
    let deadline = Clocks.monotonic() + patience
    while try socket.receive(into: buffer) > 0, Clocks.monotonic() < deadline {}
  }
}
