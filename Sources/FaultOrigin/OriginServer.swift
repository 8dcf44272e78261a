import Failure
import System

/// A static HTTP/1.1 server for one site (RFC 9110, RFC 9112): GET and HEAD, byte ranges, validators,
/// persistent connections. It listens from its creation on, until ``stop()``.
package final class OriginServer: Sendable {
  /// `host:port` as actually bound, IPv6 in brackets.
  package let address: String
  /// The URL to share. A server on all addresses of the machine is named by its loopback address.
  package let manifestURL: String

  private enum Phase {
    case running(Socket, WorkThread)
    case stopping
    case stopped
  }

  private let phase: Monitor<Phase>
  private let connections: ConnectionSet

  /// - Parameters:
  ///   - site: the directory that is served.
  ///   - listen: `ADDR:PORT` or `[ADDR]:PORT`; port 0 picks a free one.
  ///   - connectionLimit: how many connections are served at a time; more of them wait.
  ///   - idleTimeout: seconds that a peer may do nothing.
  ///   - makeDirector: what is done wrong with this site; without it everything is right.
  package init(
    site: String, listen: String, connectionLimit: Int = 256, idleTimeout: Double = 60,
    makeDirector: (StaticSite) -> FaultDirector? = { _ in nil }
  ) throws(FetchFailure) {
    let site = try StaticSite(site)
    let director = makeDirector(site)
    let (listener, bound) = try Self.listen(listen)
    let connections = ConnectionSet(limit: connectionLimit)
    let acceptor = WorkThread("accept") {
      Self.accept(from: listener, into: connections) {
        Connection(socket: $0, site: site, idleTimeout: idleTimeout, director: director)
      }
    }
    self.connections = connections
    phase = Monitor(.running(listener, acceptor))
    address = bound.text
    manifestURL = "http://\((bound.isWildcard ? bound.onLoopback : bound).text)/manifest"
  }

  deinit { stop() }

  /// Waits until ``stop()`` has done its work.
  package func run() {
    _ = phase.wait { phase -> Bool? in
      switch phase {
      case .running, .stopping: nil
      case .stopped: true
      }
    }
  }

  /// Stops listening, ends all connections, joins all threads. Any thread may call it, any number of
  /// times; each call returns when the work is done.
  package func stop() {
    let running: (Socket, WorkThread)? = phase.change { phase in
      switch phase {
      case .running(let listener, let acceptor):
        phase = .stopping
        return (listener, acceptor)
      case .stopping, .stopped: return nil
      }
    }
    guard let (listener, acceptor) = running else { return run() }
    connections.refuse()
    listener.shutdown()
    acceptor.join()
    connections.close()
    phase.change { $0 = .stopped }
  }

  private static func accept(
    from listener: Socket, into connections: ConnectionSet,
    _ makeConnection: (Socket) -> Connection
  ) {
    while connections.waitForRoom() {
      do throws(SystemError) {
        connections.serve(makeConnection(try listener.accept()))
      } catch {
        // A peer that left the queue again is its own affair. All else (out of descriptors, out of
        // memory) would fail again at once.
        if error.code == SystemError.connectionAborted { continue }
        guard connections.waitAMoment() else { return }
      }
    }
  }

  private static func listen(_ text: String) throws(FetchFailure) -> (Socket, SocketAddress) {
    guard let address = SocketAddress(text) else {
      throw FetchFailure(
        .usage, "'\(text)' is no address to listen on",
        hint: "write address and port in figures, as 127.0.0.1:8000 or [::1]:8000")
    }
    do throws(SystemError) {
      let socket = try Socket.listen(on: address)
      return (socket, try socket.localAddress())
    } catch {
      let hint: String? =
        switch error.code {
        case SystemError.addressInUse: "--listen \(address.anyPort.text) picks a free port"
        case SystemError.addressNotHere: "choose an address of this machine, as 127.0.0.1"
        case SystemError.notPermitted: "choose a port above 1023"
        default: nil
        }
      throw FetchFailure(.usage, "cannot listen on \(text): \(error.reason)", hint: hint)
    }
  }
}
