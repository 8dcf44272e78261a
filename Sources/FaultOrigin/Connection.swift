import System

/// One connection, from its first byte to its end, on the thread that calls ``serve()``.
struct Connection: Sendable {
  let socket: Socket
  let site: StaticSite
  /// Seconds that the peer may let pass without a request, within the head of one, or without taking
  /// a byte of an answer.
  let idleTimeout: Double
  /// What is done wrong; nil to do everything right.
  var director: FaultDirector?

  private static let chunk = 16_384

  func serve() {
    Signals.holdBackThoseOfCalls()
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
    if let director { return try serveRequests(director, buffer) }
    var reader = RequestReader()
    while let asked = try nextRequest(&reader, buffer) {
      let answer = self.answer(asked)
      try answer.send(over: socket, now: Clocks.wall())
      if answer.closes { return try linger(buffer) }
    }
  }

  private func serveRequests(
    _ director: FaultDirector, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) {
    // What the system keeps for a peer that has stopped reading counts as sent: it is kept small.
    try socket.setSendBuffer(Self.sendBuffer)
    guard director.accepts() else { return try socket.resetOnClose() }
    let wire = Wire(socket: socket, rate: director.rate) { director.sending($0) }
    var reader = RequestReader()
    while let asked = try nextRequest(&reader, buffer) {
      if let latency = director.latency, socket.waitForEnd(within: latency) { return }
      let right = answer(asked)
      let spoilt: WireAnswer =
        switch asked {
        case .head(let head):
          director.answer(
            head, right, file: try? site.file(head.target), now: Clocks.wall())
        case .refusal: WireAnswer(right, now: Clocks.wall())
        }
      switch try wire.send(spoilt) {
      case .another?: continue
      case .linger?: return try linger(buffer)
      case .end?, nil: return
      }
    }
  }

  private static let sendBuffer = 32 << 10

  private enum Asked {
    case head(RequestHead)
    case refusal(RequestRefusal)
  }

  private func answer(_ asked: Asked) -> Answer {
    switch asked {
    case .head(let head): site.answer(head, now: Clocks.wall())
    case .refusal(let refusal): Answer(refusing: refusal.status, closes: true)
    }
  }

  /// Waits for a request; nil once the peer wants nothing more.
  private func nextRequest(
    _ reader: inout RequestReader, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Asked? {
    var deadline: Double?
    while true {
      switch reader.next() {
      case .request(let head): return .head(head)
      case .refused(let refusal): return .refusal(refusal)
      case .needsMore: break
      }
      if !reader.isEmpty {
        // Against one byte now and then: a head as a whole has its time too.
        if let deadline, Clocks.monotonic() >= deadline {
          return .refusal(.late)
        }
        deadline = deadline ?? Clocks.monotonic() + idleTimeout
      }
      let count: Int
      do throws(SystemError) {
        count = try socket.receive(into: buffer)
      } catch {
        guard error.isTimeout, !reader.isEmpty else { throw error }
        return .refusal(.late)
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
