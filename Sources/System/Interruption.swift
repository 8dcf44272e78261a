import Failure

/// A wish to end the run early, by a signal or by the caller. Once raised it stays.
package final class Interruption: Sendable {
  private struct State: Sendable {
    var signal: Int32?
    var observers: [Int: @Sendable (Int32) -> Void] = [:]
    var nextObserver = 0
  }

  private let state = Monitor(State())

  package init() {}

  package static let interrupt: Int32 = 2

  /// - Parameter signal: SIGINT (2), SIGTERM (15) or SIGHUP (1).
  package func raise(_ signal: Int32) {
    let observers = state.look { state in
      guard state.signal == nil else { return [@Sendable (Int32) -> Void]() }
      state.signal = signal
      return Array(state.observers.values)
    }
    for observer in observers { observer(signal) }
  }

  package var signal: Int32? { state.look { $0.signal } }

  /// - Throws: `interrupted` once it was raised.
  package func check() throws(FetchFailure) {
    if let signal { throw Self.failure(signal) }
  }

  /// Calls `body` when the wish is raised, at once if it was before.
  package func observe(_ body: @escaping @Sendable (Int32) -> Void) -> Observer {
    let (signal, id) = state.look { state in
      state.nextObserver += 1
      state.observers[state.nextObserver] = body
      return (state.signal, state.nextObserver)
    }
    if let signal { body(signal) }
    return Observer { [state] in state.look { $0.observers[id] = nil } }
  }

  package struct Observer: Sendable {
    package let end: @Sendable () -> Void
  }

  package static func failure(_ signal: Int32) -> FetchFailure {
    let what =
      switch signal {
      case 1: "hung up"
      case 2: "interrupted"
      case 15: "terminated"
      default: "ended by signal \(signal)"
      }
    return FetchFailure(
      .interrupted, what, hint: "run the same command again to resume", signal: signal)
  }
}

extension Interruption {
  /// Waits, unless the wish is raised meanwhile.
  /// - Throws: `interrupted`.
  package func sleep(_ seconds: Double) throws(FetchFailure) {
    let raised = Monitor<Bool>(false)
    let observer = observe { _ in raised.change { $0 = true } }
    defer { observer.end() }
    _ = raised.wait(until: Clocks.monotonic() + seconds) { $0 ? true : nil }
    try check()
  }
}
