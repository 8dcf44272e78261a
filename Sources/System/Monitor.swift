import Glibc

/// A lock with a condition, and the state that it guards. The only lock there is: the thread sanitizer
/// sees nothing of `Mutex`.
package final class Monitor<State>: @unchecked Sendable {
  // Unchecked: `state` is touched only under `mutex`.
  private var state: State
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init(_ state: sending State) {
    self.state = state
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` under the lock and wakes every waiter.
  package func change<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(condition)
      pthread_mutex_unlock(mutex)
    }
    return try body(&state)
  }

  /// Runs `body` under the lock.
  package func look<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Runs `body` under the lock, again after every change, until it answers something or the
  /// monotonic clock reaches `deadline`; then nil.
  package func wait<Result>(
    until deadline: Double? = nil, _ body: (inout State) -> sending Result?
  ) -> sending Result? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      guard let deadline else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      if Clocks.monotonic() >= deadline { return nil }
      var time = timespec()
      time.tv_sec = Int(min(deadline, 1e15))
      time.tv_nsec = Int((min(deadline, 1e15) - Double(time.tv_sec)) * 1e9)
      pthread_cond_timedwait(condition, mutex, &time)
    }
  }
}
