import Glibc

/// A bounded number of equal buffers. When it is empty, whoever wants one has to wait: this is what
/// keeps memory within its bound.
package final class BufferPool: Sendable {
  package let bufferSize: Int
  package let capacity: Int
  private let state: Monitor<State>
  private let onReturn: @Sendable () -> Void

  private struct State: @unchecked Sendable {
    // Unchecked: memory that nobody uses while it is in here, and touched under the lock alone.
    var free: [UnsafeMutableRawBufferPointer] = []
    var made = 0
    var isAwaited = false
  }

  /// - Parameter onReturn: called, on any thread, when a buffer comes back after ``take()`` had found
  ///   none.
  package init(bufferSize: Int, capacity: Int, onReturn: @escaping @Sendable () -> Void = {}) {
    precondition(bufferSize > 0 && capacity > 0, "System: an empty buffer pool")
    self.bufferSize = bufferSize
    self.capacity = capacity
    self.onReturn = onReturn
    state = Monitor(State())
  }

  deinit { state.look { state in state.free.forEach { $0.deallocate() } } }

  /// A buffer, or nil if all are in use.
  package func take() -> PooledBuffer? { take(1)?.first }

  /// So many buffers, or nil, and none of them, if fewer are free.
  package func take(_ count: Int) -> [PooledBuffer]? {
    let found: [UnsafeMutableRawBufferPointer]? = state.look { state in
      guard state.free.count + capacity - state.made >= count else {
        state.isAwaited = true
        return nil
      }
      return (0..<count).map { _ in
        if let free = state.free.popLast() { return free }
        state.made += 1
        return .allocate(byteCount: bufferSize, alignment: 4_096)
      }
    }
    return found?.map { PooledBuffer($0, pool: self) }
  }

  fileprivate func giveBack(_ bytes: UnsafeMutableRawBufferPointer) {
    let wasAwaited = state.look { state in
      state.free.append(bytes)
      defer { state.isAwaited = false }
      return state.isAwaited
    }
    if wasAwaited { onReturn() }
  }
}

/// A buffer out of a pool: it goes back when the last reference does.
package final class PooledBuffer: @unchecked Sendable {
  // Unchecked: one holder at a time, handed from thread to thread through a queue.
  package let bytes: UnsafeMutableRawBufferPointer
  private let pool: BufferPool

  fileprivate init(_ bytes: UnsafeMutableRawBufferPointer, pool: BufferPool) {
    (self.bytes, self.pool) = (bytes, pool)
  }

  deinit { pool.giveBack(bytes) }
}
