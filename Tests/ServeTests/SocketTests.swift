import System
import Testing

@Suite struct SocketTests {
  private func pair() throws -> (RawClient, Socket) {
    let listener = try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0")))
    let client = try RawClient(try listener.localAddress().text)
    return (client, try listener.accept())
  }

  private func receive(_ socket: Socket) throws -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
    defer { buffer.deallocate() }
    let count = try socket.receive(into: buffer)
    return Array(buffer[..<count])
  }

  @Test("addresses are numbers, and their text is the same again")
  func addresses() throws {
    for text in ["127.0.0.1:0", "0.0.0.0:65535", "[::1]:80", "[::]:8000", "[2001:db8::1]:443"] {
      #expect(try #require(SocketAddress(text)).text == text)
    }
    #expect(try #require(SocketAddress("[::]:8")).isWildcard)
    #expect(try #require(SocketAddress("[::]:8")).onLoopback.text == "[::1]:8")
    #expect(try !#require(SocketAddress("127.0.0.1:8")).isWildcard)
  }

  @Test("a reset throws away what is under way and says so to the peer")
  func reset() throws {
    let client = try abortedPeer()
    #expect { try client.readToEnd() } throws: {
      ($0 as? SystemError)?.code == SystemError.connectionReset
    }
  }

  /// A client whose server has closed with a reset.
  private func abortedPeer() throws -> RawClient {
    let (client, server) = try pair()
    try [UInt8]("never read".utf8).withUnsafeBytes { try server.send($0) }
    try server.resetOnClose()
    return client
  }

  @Test("an orderly end lets the peer read all and answer")
  func finish() throws {
    let (client, server) = try pair()
    try [UInt8]("bye".utf8).withUnsafeBytes { try server.send($0) }
    server.finishSending()
    #expect(try client.readToEnd() == Array("bye".utf8))
    try client.send("ok")
    #expect(try receive(server) == Array("ok".utf8))
  }

  @Test("a peer that sends nothing is a timeout, one that has gone is none")
  func timeouts() throws {
    let (client, server) = try pair()
    try server.setReceiveTimeout(0.001)
    #expect { try receive(server) } throws: { ($0 as? SystemError)?.isTimeout == true }
    try server.setReceiveTimeout(0)
    #expect { try receive(server) } throws: { ($0 as? SystemError)?.isTimeout == true }
    client.socket.shutdown()
    try server.setReceiveTimeout(30)
    #expect(try receive(server) == [])
  }

  @Test("shutdown wakes a thread that waits for a connection")
  func wakesAccept() throws {
    let listener = try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0")))
    let outcome = Monitor<SystemError?>(nil)
    let thread = WorkThread("accept") {
      do throws(SystemError) {
        _ = try listener.accept()
      } catch {
        outcome.change { $0 = error }
      }
    }
    listener.shutdown()
    thread.join()
    #expect(outcome.look { $0 }?.call == "accept")
  }
}
