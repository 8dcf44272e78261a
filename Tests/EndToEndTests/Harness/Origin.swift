import Glibc
import System

/// A small HTTP/1.1 server that is right by itself and as wrong as a test wants: a closure may bend
/// every answer. One thread a connection; it counts what it is asked and what it sends. It shares no
/// rules with the server of the product.
final class Origin: RunningServer {
  typealias Bend = @Sendable (OriginRequest, inout OriginResponse) -> Void

  /// What was answered to which request.
  struct Entry: Sendable {
    let request: OriginRequest
    let status: Int
    var bodyBytes: Int64 = 0
  }

  struct State: Sendable {
    var bend: Bend?
    var onProgress: (@Sendable (Int64) -> Void)?
    var requests = 0
    var entries: [Entry] = []
    var connections: [Socket] = []
    var threads: [WorkThread] = []
    var held = 0
    var bodyBytes: Int64 = 0
    var isStopped = false
  }

  let base: String
  private let state: Monitor<State>
  private let listener: Socket
  private let acceptor: WorkThread

  /// - Parameter root: the directory that is served.
  init(_ root: String, bend: Bend? = nil) throws {
    guard let address = SocketAddress("127.0.0.1:0") else { throw SystemError(EINVAL, "bind") }
    let (state, listener) = (Monitor(State(bend: bend)), try Socket.listen(on: address))
    base = "http://\(try listener.localAddress().text)/"
    (self.state, self.listener) = (state, listener)
    acceptor = WorkThread("origin") { Self.accept(listener, root, state) }
  }

  deinit {
    stop()
    acceptor.join()
  }

  private static func accept(_ listener: Socket, _ root: String, _ monitor: Monitor<State>) {
    while let socket = try? listener.accept() {
      monitor.change { state in
        guard !state.isStopped else { return socket.shutdown() }
        let number = state.connections.count
        state.connections.append(socket)
        state.threads.append(
          WorkThread("origin link") {
            OriginConnection(socket, number: number, root: root, state: monitor).serve()
          })
      }
    }
  }

  /// Ends all connections; nobody can connect any more.
  func stop() {
    let threads = state.change { state in
      state.isStopped = true
      for socket in state.connections { socket.shutdown() }
      defer { state.threads = [] }
      return state.threads
    }
    listener.shutdown()
    for thread in threads { thread.join() }
  }

  // MARK: What it does

  /// Bends every answer from now on.
  func bend(_ bend: Bend?) { state.change { $0.bend = bend } }

  /// Bends the answers to requests for data of a release.
  func bendData(
    of release: Release, _ bend: @escaping @Sendable (OriginRequest, inout OriginResponse) -> Void
  ) {
    let path = release.dataPath
    self.bend { request, response in
      if request.path == path { bend(request, &response) }
    }
  }

  /// Called with the number of body bytes sent until then, after every piece.
  func onProgress(_ body: (@Sendable (Int64) -> Void)?) { state.change { $0.onProgress = body } }

  // MARK: What it saw

  var entries: [Entry] { state.look { $0.entries } }

  func entries(of path: String) -> [Entry] { entries.filter { $0.request.path == path } }

  func count(of path: String) -> Int? { entries(of: path).count }

  /// Body bytes of all answers for that path.
  func bytes(of path: String) -> Int64 { entries(of: path).reduce(0) { $0 + $1.bodyBytes } }

  /// The blocks of `release` that were asked for.
  func blocksAsked(of release: Release) -> Set<Int> {
    var blocks: Set<Int> = []
    for entry in entries(of: release.dataPath) {
      let range = entry.request.range ?? 0..<Int64(release.bytes.count)
      guard !range.isEmpty else { continue }
      let size = Int64(release.blockSize)
      blocks.formUnion(Int(range.lowerBound / size)...Int((range.upperBound - 1) / size))
    }
    return blocks
  }

  var connectionCount: Int { state.look { $0.connections.count } }

  /// Forgets what it saw.
  func forget() { state.change { ($0.entries, $0.bodyBytes, $0.held) = ([], 0, 0) } }

  /// Waits until so many answers are held open.
  func waitForHeld(_ count: Int, within seconds: Double = Fetchres.patience) -> Bool {
    wait(within: seconds) { $0.held >= count }
  }

  func wait(
    within seconds: Double = Fetchres.patience, _ condition: (State) -> Bool
  ) -> Bool {
    state.wait(until: Clocks.monotonic() + seconds) { condition($0) ? true : nil } ?? false
  }
}

/// A request as it came.
struct OriginRequest: Sendable {
  /// In the order of arrival, from 0.
  let number: Int
  /// The connection it came on, in the order of arrival, from 0.
  let connection: Int
  let method: String
  /// As it was sent.
  let target: String
  /// Percent-decoded, without the query.
  let path: String
  /// Names in lower case.
  let fields: [String: String]
  /// What a single valid Range field asks for, not cut to the file.
  let range: Range<Int64>?
}
