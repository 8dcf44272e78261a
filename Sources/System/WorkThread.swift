import CSystem
import Glibc

/// A thread of its own for work that blocks. One that nobody holds any more, and nobody joined, frees
/// itself when it ends.
package final class WorkThread: @unchecked Sendable {
  // Unchecked: the handle is written once, before the object is shared; the rest is of the one that
  // joins, and of the last that lets go.
  private let handle: pthread_t
  private var isJoined = false

  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// - Parameter name: at most 15 bytes, shown by debuggers.
  package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body))
    var handle = pthread_t()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, 512 << 10)
    let result = pthread_create(
      &handle, &attributes,
      { context in
        // In an app nobody has told the process to leave it alone.
        Signals.holdBackThoseOfCalls()
        Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    pthread_attr_destroy(&attributes)
    precondition(result == 0, "System: no thread can be started")
    self.handle = handle
    fetchres_name_thread(handle, name)
  }

  deinit { if !isJoined { pthread_detach(handle) } }

  /// Waits for its end, once.
  package func join() {
    pthread_join(handle, nil)
    isJoined = true
  }

  /// The number of processors that this process may use.
  package static var processorCount: Int { max(1, Int(fetchres_processor_count())) }
}
