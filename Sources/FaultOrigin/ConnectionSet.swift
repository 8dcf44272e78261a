import System

/// The connections that are being served, each on a thread of its own, and no more than a limit.
final class ConnectionSet: Sendable {
  private struct State {
    var isClosed = false
    var lastNumber = 0
    var serving: [Int: (socket: Socket, thread: WorkThread)] = [:]
    /// Threads that are about to end, or have ended, and wait to be joined.
    var done: [WorkThread] = []
  }

  private let limit: Int
  private let state = Monitor(State())

  init(limit: Int) {
    precondition(limit > 0, "FaultOrigin: a server without connections")
    self.limit = limit
  }

  /// Waits until another connection may begin; false if none may any more.
  func waitForRoom() -> Bool {
    let isOpen = state.wait { state -> Bool? in
      if state.isClosed { return false }
      return state.serving.count < limit ? true : nil
    }
    joinDone()
    return isOpen ?? false
  }

  /// Waits a moment, for a descriptor or memory to come back; false if no connection may begin any
  /// more.
  func waitAMoment() -> Bool {
    let isClosed = state.wait(until: Clocks.monotonic() + 0.1) { $0.isClosed ? true : nil }
    return isClosed == nil
  }

  /// Serves a connection on a thread of its own. Drops it if none may begin any more.
  func serve(_ connection: Connection) {
    state.change { state in
      if state.isClosed { return }
      state.lastNumber += 1
      let number = state.lastNumber
      // The thread cannot report its end before it is in the table: it needs the lock for that.
      let thread = WorkThread("connection") { [self] in
        connection.serve()
        end(number)
      }
      state.serving[number] = (connection.socket, thread)
    }
  }

  /// From now on no connection begins.
  func refuse() { state.change { $0.isClosed = true } }

  /// Ends all connections and joins their threads.
  func close() {
    refuse()
    state.look { state in state.serving.values.forEach { $0.socket.shutdown() } }
    _ = state.wait { $0.serving.isEmpty ? true : nil }
    joinDone()
  }

  private func end(_ number: Int) {
    state.change { state in
      if let ended = state.serving.removeValue(forKey: number) { state.done.append(ended.thread) }
    }
  }

  private func joinDone() {
    let threads = state.change { state in
      defer { state.done = [] }
      return state.done
    }
    threads.forEach { $0.join() }
  }
}
