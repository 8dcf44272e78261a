import Failure
import System

/// The events of one pull, in their order. See ``Fetcher/events(_:)``.
///
/// Whoever reads slowly slows nothing down: of events of progress that nobody has read yet only the
/// newest is kept, and of all others the newest 1,000.
public struct FetchEvents: AsyncSequence, Sendable {
  public typealias Element = FetchEvent
  public typealias Failure = FetchFailure

  /// What a pull tells about itself.
  enum Report: Sendable {
    case event(FetchEvent)
    /// Comes once, as the last.
    case ended(Result<PullResult, FetchFailure>)
  }

  /// Begins a pull and returns.
  private let begin: @Sendable (Interruption, @escaping @Sendable (Report) -> Void) -> Void

  init(
    _ begin: @escaping @Sendable (Interruption, @escaping @Sendable (Report) -> Void) -> Void
  ) {
    self.begin = begin
  }

  /// Begins the pull.
  public func makeAsyncIterator() -> Iterator {
    let reader = Reader()
    begin(reader.interruption, reader.queue.put)
    return Iterator(reader: reader)
  }

  /// Reads the events of one pull. The pull is ended when nobody has a copy of it any more.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader

    /// The next event; nil after the last.
    ///
    /// - Throws: what ended the pull, once.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(FetchFailure) -> FetchEvent? {
      try await reader.next()
    }
  }

  fileprivate final class Reader: Sendable {
    let queue = EventQueue()
    let interruption = Interruption()

    func next() async throws(FetchFailure) -> FetchEvent? {
      await withTaskCancellationHandler {
        await queue.wait()
      } onCancel: {
        interruption.raise(Interruption.interrupt)
      }
      return try queue.take()
    }

    deinit { interruption.raise(Interruption.interrupt) }
  }
}

/// Stands between the thread of a pull, which never waits, and the task that reads.
private final class EventQueue: Sendable {
  private struct State: Sendable {
    var events: [FetchEvent] = []
    var failure: FetchFailure?
    var hasEnded = false
    var reader: CheckedContinuation<Void, Never>?

    var hasNews: Bool { !events.isEmpty || hasEnded }
  }

  private static let capacity = 1_000
  private let state = Monitor(State())

  func put(_ report: FetchEvents.Report) {
    let reader = state.look { state in
      switch report {
      case .event(let event): Self.append(event, to: &state.events)
      case .ended(.success): state.hasEnded = true
      case .ended(.failure(let failure)): (state.failure, state.hasEnded) = (failure, true)
      }
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume()
  }

  private static func append(_ event: FetchEvent, to events: inout [FetchEvent]) {
    if case .progress = event, case .progress? = events.last { events.removeLast() }
    if events.count == capacity { events.removeFirst() }
    events.append(event)
  }

  /// Returns when there is something to take.
  func wait() async {
    await withCheckedContinuation { reader in
      let hasNews = state.look { state in
        if !state.hasNews { state.reader = reader }
        return state.hasNews
      }
      if hasNews { reader.resume() }
    }
  }

  func take() throws(FetchFailure) -> FetchEvent? {
    let taken: Result<FetchEvent?, FetchFailure> = state.look { state in
      if !state.events.isEmpty { return .success(state.events.removeFirst()) }
      guard let failure = state.failure else { return .success(nil) }
      state.failure = nil
      return .failure(failure)
    }
    return try taken.get()
  }
}
