import System
import Testing

/// A port of the loopback address. Every connection is served on a thread of its own; all of them end
/// with the last reference.
final class LoopbackListener: Sendable {
  private struct State: Sendable {
    var sockets: [Socket] = []
    var threads: [WorkThread] = []
  }

  /// `127.0.0.1:PORT`
  let address: String
  private let listener: Socket
  private let state: Monitor<State>
  private let acceptor: WorkThread

  init(_ serve: @escaping @Sendable (Socket) -> Void) throws {
    let listener = try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0")))
    let state = Monitor(State())
    (self.listener, self.state) = (listener, state)
    address = try listener.localAddress().text
    acceptor = WorkThread("listener") {
      while let socket = try? listener.accept() {
        state.change { state in
          state.sockets.append(socket)
          state.threads.append(WorkThread("listener link") { serve(socket) })
        }
      }
    }
  }

  deinit {
    listener.shutdown()
    acceptor.join()
    let threads = state.change { state in
      for socket in state.sockets { socket.shutdown() }
      return state.threads
    }
    for thread in threads { thread.join() }
  }

  var connectionCount: Int { state.look { $0.sockets.count } }
}
