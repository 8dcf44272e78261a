import Failure
import FaultOrigin
import System
import Testing

@Suite struct OriginServerTests {
  @Test("stop ends connections in every state, and the port is free again")
  func stopping() throws {
    let site = try ServeSite()
    try site.write("f", [1, 2, 3])
    try site.makeSparse("large", size: 1 << 30)
    let server = try site.serve()
    let idle = try RawClient(server.address)
    #expect(try idle.ask("GET", "/f").body == [1, 2, 3])
    let silent = try RawClient(server.address)
    let half = try RawClient(server.address)
    try half.send("GET /f HT")
    let full = try RawClient(server.address)
    try full.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    try full.waitForInput()
    server.stop()
    #expect(try idle.readToEnd() == [])
    for client in [silent, half] { #expect(Self.ends(client)) }
    #expect(Self.ends(full))
    #expect(throws: (any Error).self) { try RawClient(server.address).ask("GET", "/f") }
    let again = try OriginServer(site: site.path, listen: server.address)
    #expect(again.address == server.address)
    #expect(try RawClient(again.address).ask("GET", "/f").status == 200)
    again.stop()
  }

  /// An orderly end or a reset, but an end.
  private static func ends(_ client: RawClient) -> Bool {
    do {
      _ = try client.readToEnd()
      return true
    } catch {
      return (error as? SystemError)?.isTimeout == false
    }
  }

  @Test("run waits for stop, which may be called several times, from any thread")
  func running() throws {
    let site = try ServeSite()
    let server = try site.serve()
    let ended = Monitor(0)
    let threads = [
      WorkThread("run") {
        server.run()
        ended.change { $0 += 1 }
      },
      WorkThread("stop") {
        server.stop()
        ended.change { $0 += 1 }
      },
      WorkThread("stop") {
        server.stop()
        ended.change { $0 += 1 }
      },
    ]
    threads.forEach { $0.join() }
    #expect(ended.look { $0 } == 3)
    server.stop()
    server.run()
  }

  @Test("a server that nobody holds any more stops")
  func released() throws {
    let site = try ServeSite()
    var server: OriginServer? = try site.serve()
    let address = try #require(server?.address)
    let client = try RawClient(address)
    server = nil
    #expect(Self.ends(client))
    #expect(throws: SystemError.self) { try RawClient(address) }
  }

  @Test("IPv6 and all addresses of the machine are listened on, with a URL that can be asked")
  func addresses() throws {
    let site = try ServeSite()
    try site.write("manifest", [1])
    let all = try OriginServer(site: site.path, listen: "0.0.0.0:0")
    #expect(all.address.hasPrefix("0.0.0.0:"))
    #expect(all.manifestURL.hasPrefix("http://127.0.0.1:"))
    #expect(try RawClient(all.address).ask("GET", "/manifest").status == 200)
    all.stop()
    // Not every machine has IPv6.
    guard (try? Socket.listen(on: try #require(SocketAddress("[::1]:0")))) != nil else { return }
    let six = try OriginServer(site: site.path, listen: "[::1]:0")
    #expect(six.manifestURL == "http://\(six.address)/manifest" && six.address.hasPrefix("[::1]:"))
    #expect(try RawClient(six.address).ask("GET", "/manifest").status == 200)
    six.stop()
  }

  @Test(
    "a text that is no address is a usage error with a hint",
    arguments: [
      "", ":", "127.0.0.1", "127.0.0.1:", ":8000", "8000", "127.0.0.1:65536", "127.0.0.1:-1",
      "127.0.0.1:+1", "127.0.0.1:080", "127.0.0.1:8000 ", "localhost:8000", "127.0.0:80", "::1:80",
      "[127.0.0.1]:80", "[::1]", "[::1:80", "::1]:80", "[]:80", "[::1%lo]:80", "127.0.0.1\0:80",
      "127.0.0.1:80:80",
    ])
  func badAddress(_ text: String) throws {
    let site = try ServeSite()
    #expect {
      _ = try OriginServer(site: site.path, listen: text)
    } throws: {
      let failure = $0 as? FetchFailure
      return failure?.category == .usage && failure?.hint?.contains("127.0.0.1:8000") == true
    }
  }

  @Test("an address in use is a usage error that names the way out")
  func inUse() throws {
    let site = try ServeSite()
    let server = try site.serve()
    defer { server.stop() }
    #expect {
      _ = try OriginServer(site: site.path, listen: server.address)
    } throws: {
      $0 as? FetchFailure
        == FetchFailure(
          .usage, "cannot listen on \(server.address): address already in use",
          hint: "--listen 127.0.0.1:0 picks a free port")
    }
  }

  @Test("an address of another machine is a usage error")
  func foreignAddress() throws {
    let site = try ServeSite()
    #expect {
      _ = try OriginServer(site: site.path, listen: "192.0.2.1:0")
    } throws: {
      ($0 as? FetchFailure)?.category == .usage
    }
  }
}
