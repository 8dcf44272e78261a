import Glibc
import Synchronization

/// SIGINT, SIGTERM and SIGHUP as a value instead of a handler.
package final class Signals: Sendable {
  private static let watched = [SIGINT, SIGTERM, SIGHUP]
  private let first = Atomic<Int32>(0)
  private let onSignal: @Sendable (Int32) -> Void

  /// What is an error of a call as well: a peer or reader that has gone, and a file that would become
  /// larger than the process may make one (`ulimit -f`).
  private static let ofCalls = [SIGPIPE, SIGXFSZ]

  /// From now on such a thing is an error of the call that finds out, never a signal that ends the
  /// process. Call it first of all, in `main`.
  package static func ignoreThoseOfCalls() {
    for number in ofCalls { signal(number, SIG_IGN) }
  }

  /// The same for this thread only, in a process that is not ours.
  package static func holdBackThoseOfCalls() {
    var set = sigset_t()
    sigemptyset(&set)
    for number in ofCalls { sigaddset(&set, number) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Holds the signals back from this thread and from those that it starts, and starts a thread that
  /// waits for them. Before that, and in a process without one, they end the process as usual: so it
  /// has to be made before any other thread.
  ///
  /// The first signal calls `onSignal`; a second one ends the process at once, which loses nothing:
  /// everything on disk survives a kill.
  package init(onSignal: @escaping @Sendable (Int32) -> Void) {
    self.onSignal = onSignal
    var set = Self.set
    pthread_sigmask(SIG_BLOCK, &set, nil)
    _ = WorkThread("signals") { [self] in
      var set = Self.set
      while true {
        var number: Int32 = 0
        guard sigwait(&set, &number) == 0 else { continue }
        if first.compareExchange(expected: 0, desired: number, ordering: .relaxed).exchanged {
          onSignal(number)
        } else {
          TerminalKeys.end()
          _exit(128 + number)
        }
      }
    }
  }

  /// Whoever started this process with a signal ignored (`nohup`, a shell without job control) does not
  /// want it to be ended by that.
  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    return sigaction(signal, nil, &action) == 0
      && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  private static var set: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in watched where !isIgnored(signal) { sigaddset(&set, signal) }
    return set
  }
}
