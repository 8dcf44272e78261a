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
  package let start: @Sendable (Ask, @escaping @Sendable (Result) -> Void) -> Void

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
      source.begin(ask) { answer in answers.change { $0[number] = $0[number] ?? answer } }
    }
    _ = answers.wait { got in !got.contains { $0 == nil } || isEnough(got) ? true : nil }
    _ = answers.wait(until: Clocks.monotonic() + lastMoment) { got in
      got.contains { $0 == nil } ? nil : true
    }
    return zip(asks, answers.look { $0 }).map { ask, answer in
      answer ?? .failure(ask.source.isLate)
    }
  }

  private static let lastMoment = 2.0

  private var isLate: FetchFailure {
    FetchFailure(.timeout, "no answer while others had one", source: name)
  }

  /// Asks, and puts the name of the source to what fails.
  private func begin(_ ask: Ask, _ done: @escaping @Sendable (Result) -> Void) {
    start(ask) { answer in
      done(
        answer.mapError { failure in
          // That is nothing that a source did.
          guard failure.category != .interrupted else { return failure }
          var failure = failure.from(name)
          failure.message = "\(ask.path): \(failure.message)"
          return failure
        })
    }
  }

  // MARK: One after the other

  /// A file of a log. Logs grow: where a partial one is gone, the full one is asked for once.
  struct LogFile {
    var ask: Ask
    var full: Ask?
  }

  /// Asks for `file`, or for the full one. That the partial one is gone is what counts if neither is
  /// there.
  private func begin(_ file: LogFile, _ done: @escaping @Sendable (Result) -> Void) {
    begin(file.ask) { answer in
      guard let full = file.full, case .failure(let failure) = answer, failure.httpStatus == 404
      else { return done(answer) }
      begin(full) { grown in
        if case .success = grown { done(grown) } else { done(answer) }
      }
    }
  }

  /// Asks sources for the same, each next one once those before it have failed, or have had their time
  /// and more: a source that is slow is waited for as long as nobody else has what holds.
  ///
  /// - Parameters:
  ///   - patience: seconds until the next source is asked as well.
  ///   - blame: hears of every source that failed or was left behind.
  ///   - files: what to ask a source for, when its turn comes; all of it at the same time.
  ///   - take: checks what a source answered; the first that holds ends it.
  /// - Throws: what the first source failed with, if all do.
  static func race<Value>(
    _ sources: [LogSource], patience: Double, blame: (Int, FetchFailure) -> Void,
    files: (Int) -> [LogFile], take: (Int, [Result]) throws(FetchFailure) -> Value
  ) throws(FetchFailure) -> Value {
    let answers = Monitor([[Result?]]())
    var failures: [Int: FetchFailure] = [:]
    var started = 0
    var next = 0.0
    while failures.count < sources.count {
      if started == failures.count || (started < sources.count && Clocks.monotonic() >= next) {
        let (number, asked) = (started, files(started))
        answers.change { $0.append([Result?](repeating: nil, count: asked.count)) }
        for (place, file) in asked.enumerated() {
          sources[number].begin(file) { answer in
            answers.change { $0[number][place] = $0[number][place] ?? answer }
          }
        }
        started += 1
        next = Clocks.monotonic() + patience
      }
      let failed = Set(failures.keys)
      let got = answers.wait(until: started < sources.count ? next : nil) {
        got -> (source: Int, results: [Result])? in
        for (source, results) in got.enumerated() where !failed.contains(source) {
          let whole = results.compactMap(\.self)
          if whole.count == results.count { return (source, whole) }
        }
        return nil
      }
      guard let got else { continue }
      do throws(FetchFailure) {
        let value = try take(got.source, got.results)
        for late in 0..<started where late != got.source && failures[late] == nil {
          blame(late, sources[late].isLate)
        }
        return value
      } catch {
        if error.category == .interrupted { throw error }
        blame(got.source, error)
        failures[got.source] = error
      }
    }
    throw failures[0] ?? FetchFailure(.unreachable, "nobody was asked for the log")
  }
}
