import Crypto
import Failure
import System

/// The control port of a tor daemon, asked for one thing: how far it is. Used on one thread.
final class TorControlPort {
  private let address: SocketAddress
  private let password: String?
  private let interruption: Interruption
  private var link: Link?

  /// A connection on which we may ask.
  private struct Link {
    let socket: Socket
    var reader = TorReplyReader()
  }

  /// Seconds for each answer.
  static let patience = 5.0

  init(_ address: SocketAddress, password: String?, _ interruption: Interruption) {
    (self.address, self.password, self.interruption) = (address, password, interruption)
  }

  /// Percent of the way into the network; 100 once it is ready.
  func bootstrapPercent() throws(TorControlFault) -> Int {
    do throws(TorControlFault) {
      if link == nil { try connect() }
      let reply = try ask("GETINFO status/bootstrap-phase")
      guard let percent = reply.bootstrapPercent else {
        throw .useless("does not say how far it is")
      }
      return percent
    } catch {
      link = nil
      throw error
    }
  }

  // MARK: Authentication

  private func connect() throws(TorControlFault) {
    do throws(SystemError) {
      link = Link(socket: try Socket.connect(to: address, within: 1))
    } catch { throw .gone }
    guard let ways = TorAuthentication(try ask("PROTOCOLINFO 1")) else {
      throw .useless("does not say how to authenticate")
    }
    try authenticate(ways)
  }

  private func authenticate(_ ways: TorAuthentication) throws(TorControlFault) {
    let answer: String
    if let password, ways.methods.contains("HASHEDPASSWORD") {
      answer = " " + Hex.encode(Array(password.utf8))
    } else if ways.methods.contains("NULL") {
      answer = ""
    } else if ways.methods.contains("SAFECOOKIE"), let file = ways.cookieFile {
      answer = " " + Hex.encode(try proof(of: TorCookie(file: file)).bytes)
    } else if ways.methods.contains("HASHEDPASSWORD") {
      throw .useless("asks for a password, which --tor-password-file gives")
    } else {
      throw .useless("offers no way to authenticate that is known here")
    }
    let reply = try ask("AUTHENTICATE" + answer)
    // What it says of the reason may repeat what it was told.
    guard reply.isDone else { throw .useless("does not let us ask (\(reply.code))") }
  }

  private func proof(of cookie: TorCookie) throws(TorControlFault) -> Digest {
    let nonce = SecureRandom.bytes(TorCookie.byteCount)
    guard let challenge = TorChallenge(try ask("AUTHCHALLENGE SAFECOOKIE " + Hex.encode(nonce)))
    else { throw .useless("does not show that it knows its own cookie") }
    guard challenge.proof == cookie.proof(of: .server, nonce, challenge.nonce) else {
      throw .useless("does not know the cookie: it is not the tor that wrote the file")
    }
    return cookie.proof(of: .controller, nonce, challenge.nonce)
  }

  // MARK: Bytes

  private func ask(_ command: String) throws(TorControlFault) -> TorReply {
    guard let socket = link?.socket else { throw .gone }
    let observer = interruption.observe { _ in socket.shutdown() }
    defer { observer.end() }
    do throws(SystemError) {
      try socket.setSendTimeout(Self.patience)
      try socket.send(all: Array((command + "\r\n").utf8))
    } catch { throw .gone }
    // For the whole answer: one that comes in drops is none.
    let end = Clocks.monotonic() + Self.patience
    while true {
      let left = end - Clocks.monotonic()
      guard left > 0, let bytes = try receive(from: socket, within: left) else {
        throw .useless("does not answer within \(Int(Self.patience)) s")
      }
      if let reply = try link?.reader.take(bytes).first { return reply }
    }
  }

  /// Nil if nothing came in time.
  private func receive(
    from socket: Socket, within seconds: Double
  ) throws(TorControlFault) -> [UInt8]? {
    var bytes: [UInt8] = []
    do throws(SystemError) {
      try socket.setReceiveTimeout(seconds)
      if try socket.receive(appendingTo: &bytes) > 0 { return bytes }
    } catch {
      if error.isTimeout { return nil }
    }
    throw .gone
  }
}
