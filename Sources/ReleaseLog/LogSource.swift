import Failure
import System

/// Somebody who serves the site: what the monitor asks, and nothing about how.
package struct LogSource: Sendable {
  /// A small file to ask for.
  package struct Ask: Sendable, Hashable {
    /// Below the base, as `SitePaths` has it.
    package var path: String
    /// The largest answer in bytes.
    package var limit: Int
    /// Whether a cache on the way has to ask the origin.
    package var bypassesCaches = false
    /// Whether an earlier attempt at this source failed, so that a new connection is better.
    package var isRepeat = false

    package init(_ path: String, limit: Int) { (self.path, self.limit) = (path, limit) }
  }

  package struct Answer: Sendable {
    package var bytes: [UInt8]
    /// What came, for a message: status, type and length.
    package var summary: String?

    package init(_ bytes: [UInt8], summary: String? = nil) {
      (self.bytes, self.summary) = (bytes, summary)
    }
  }

  package typealias Result = Swift.Result<Answer, FetchFailure>

  /// A base URL without secrets, as it is shown and blamed.
  package let name: String
  /// Begins to ask, and answers once, on any thread. Nothing is tried twice in here.
  let start: @Sendable (Ask, @escaping @Sendable (Result) -> Void) -> Void

  package init(
    name: String,
    start: @escaping @Sendable (Ask, @escaping @Sendable (Result) -> Void) -> Void
  ) {
    (self.name, self.start) = (name, start)
  }

  /// A source that answers at once.
  package init(
    name: String,
    fetch:
      @escaping @Sendable (_ path: String, _ limit: Int, _ bypassesCaches: Bool)
      throws(FetchFailure) -> [UInt8]
  ) {
    self.init(name: name) { ask, done in
      do throws(FetchFailure) {
        done(.success(Answer(try fetch(ask.path, ask.limit, ask.bypassesCaches))))
      } catch { done(.failure(error)) }
    }
  }

  /// Asks for all of them at the same time, and waits for the last answer.
  package func get(_ asks: [Ask]) -> [Result] {
    Self.get(asks.map { (self, $0) })
  }

  /// Asks several sources at the same time, and waits for the last answer.
  ///
  /// - Parameter isEnough: once it says so, whoever has not answered has a last moment, and is left
  ///   behind with `timeout`: a source that is slow must not hold up the others.
  static func get(
    _ asks: [(source: LogSource, ask: Ask)], isEnough: ([Result?]) -> Bool = { _ in false }
  ) -> [Result] {
    let answers = Monitor([Result?](repeating: nil, count: asks.count))
    for (number, (source, ask)) in asks.enumerated() {
      source.start(ask) { answer in
        let named = answer.mapError { failure in
          // That is nothing that a source did.
          guard failure.category != .interrupted else { return failure }
          var failure = failure.from(source.name)
          failure.message = "\(ask.path): \(failure.message)"
          return failure
        }
        answers.change { $0[number] = $0[number] ?? named }
      }
    }
    _ = answers.wait { got in !got.contains { $0 == nil } || isEnough(got) ? true : nil }
    _ = answers.wait(until: Clocks.monotonic() + lastMoment) { got in
      got.contains { $0 == nil } ? nil : true
    }
    return zip(asks, answers.look { $0 }).map { ask, answer in
      answer
        ?? .failure(
          FetchFailure(.timeout, "no answer while others had one", source: ask.source.name))
    }
  }

  private static let lastMoment = 2.0
}
