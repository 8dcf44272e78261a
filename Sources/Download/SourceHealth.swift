import Failure
import Storage

/// What is known of a source when a run begins: where it stands on the ladder, and how long it is
/// still to be left alone. Times are seconds.
package struct SourceSeed: Sendable, Equatable {
  /// As it is shown, without secrets.
  package var name: String
  /// Failures in a row, from runs before.
  package var failures: UInt32 = 0
  /// Until the next attempt.
  package var wait: Double = 0
  /// Until the end of a hold for wrong bytes; 0 if there is none.
  package var held: Double = 0

  package init(name: String) { self.name = name }
}

/// What has to be kept of a source for the next run.
package enum SourceRecord: Sendable, Equatable {
  /// So many failures in a row; at least so long a wait, in seconds, was asked for.
  case failed(UInt32, atLeast: Double)
  /// It gave something that verified: the ladder begins anew.
  case succeeded
  /// It gave wrong bytes twice.
  case held
}

/// How one source has behaved, and when it may be asked again. Pure: times come in as seconds on the
/// monotonic clock.
package struct SourceHealth: Sendable {
  package let name: String
  /// Failures in a row.
  private(set) package var failures: UInt32
  /// Counts incidents for good: what was asked before the latest one belongs to it.
  private(set) package var epoch = 0
  private(set) package var notBefore: Double
  private(set) var heldUntil: Double
  /// Why it is of no use any more in this run, if it is so.
  private(set) package var end: FetchFailure?
  /// The user took it out of the list.
  package var isRemoved = false
  private(set) package var lastFailure: FetchFailure?
  /// The last failure of its content, and the last one that may pass.
  private(set) var lastRefusal: FetchFailure?
  private(set) var lastPassing: FetchFailure?
  private(set) package var refusals: [FailureCategory: Int] = [:]
  private var contact = Contact.none

  private(set) var knowsRanges = true
  private(set) package var speaks = Speech.http1ForData
  /// What comes next does not go over a connection that was used before.
  private(set) var distrustsConnections = false
  private var reuseFaults = 0
  private var http2Faults = 0
  private var unprocessed = 0
  /// Refusals since something verified.
  private var strikes = 0
  /// Wrong bytes in answers that were right in every other way; each on another connection.
  private(set) var lies = 0
  /// How many requests it may be given at a time, of so many that are allowed at all.
  private(set) var limit: Int
  private let maximum: Int
  private var untilMore = 0

  private(set) package var verifiedBytes: Int64 = 0
  /// Of one connection, bytes a second; nil until something came.
  private(set) var rate: Double?

  /// What came of the last request.
  private enum Contact: Sendable {
    case none
    case answered
    /// This machine reached nothing.
    case cutOff
  }

  /// Which HTTP its data goes over.
  package enum Speech: Sendable, Equatable {
    case http1ForData
    case http1Only
    /// It does not speak HTTP/1.1.
    case http2
  }

  /// After so many spans that went well one more is allowed at a time.
  private static let spansPerStep = 8
  /// So many streams may go unprocessed in a row at no cost.
  private static let unprocessedAllowed = 20
  /// Seconds before the next look while this machine reaches nothing.
  static let offlineWait = 5.0

  package init(_ seed: SourceSeed, limit: Int, now: Double) {
    name = seed.name
    failures = seed.failures
    notBefore = now + max(0, seed.wait)
    heldUntil = seed.held > 0 ? now + seed.held : -.infinity
    self.limit = limit
    maximum = limit
  }

  // MARK: What is the case

  /// Whether it can be of use in this run at all, held or not.
  package var isLeft: Bool { end == nil && !isRemoved }

  func isHeld(now: Double) -> Bool { now < heldUntil }

  package func mayBeAsked(now: Double) -> Bool { isLeft && now >= notBefore }

  /// It has failed and not yet shown that it is well again: it gets one request at a time.
  var isOnProbation: Bool { failures > 0 || strikes > 0 }

  /// Whether it has given something right in this run, and nothing is held against it since.
  var isProven: Bool { verifiedBytes > 0 && !isOnProbation }

  /// Whether nothing says that this machine could reach it.
  package var isOutOfReach: Bool {
    switch contact {
    case .none, .cutOff: true
    case .answered: false
    }
  }

  var reusesConnections: Bool { !distrustsConnections && reuseFaults < 2 }

  // MARK: What it did

  /// Something of it verified.
  ///
  /// - Returns: what to keep, if that has changed.
  package mutating func verified(bytes: Int64) -> SourceRecord? {
    verifiedBytes += bytes
    contact = .answered
    distrustsConnections = false
    (strikes, unprocessed) = (0, 0)
    guard failures > 0 else { return nil }
    failures = 0
    return .succeeded
  }

  /// A request brought so many bytes in so many seconds.
  mutating func measured(bytes: Int64, seconds: Double) {
    guard bytes > 0 else { return }
    contact = .answered
    let sample = Double(bytes) / max(seconds, 0.001)
    rate = rate.map { ($0 + sample) / 2 } ?? sample
  }

  /// A span came to its end as it should.
  mutating func completedSpan() {
    guard limit < maximum else { return }
    untilMore += 1
    guard untilMore >= Self.spansPerStep else { return }
    (untilMore, limit) = (0, limit + 1)
  }

  /// It sends whole files only. That says how to ask it; as a failure of the run it would hide what
  /// stops the stream that is asked for instead, which may pass.
  mutating func ignoredRange() {
    knowsRanges = false
    refusals[.rangeIgnored, default: 0] += 1
    contact = .answered
  }

  package mutating func note(_ failure: FetchFailure) {
    lastFailure = failure
    refusals[failure.category, default: 0] += 1
    distrustsConnections = true
    if failure.exitCode == 3 { lastPassing = failure } else { lastRefusal = failure }
    contact = failure.exchange.isLocal ? .cutOff : .answered
    if failure.exchange.wasReused, failure.exchange.wasUnprocessed { reuseFaults += 1 }
    if failure.exchange.isHTTP2Fault { http2Faults += 1 }
    switch speaks {
    case .http1ForData where failure.exchange.needsHTTP2: speaks = .http2
    case .http1ForData where http2Faults >= 2: speaks = .http1Only
    case .http1ForData, .http1Only, .http2: break
    }
  }

  /// Whether that failure costs nothing: the request was not processed, or it has taught us which
  /// HTTP the source speaks.
  package mutating func isFree(_ failure: FetchFailure, spokeBefore: Speech) -> Bool {
    if failure.exchange.needsHTTP2, spokeBefore != speaks { return true }
    guard failure.exchange.wasUnprocessed else { return false }
    unprocessed += 1
    return unprocessed <= Self.unprocessedAllowed
  }

  /// Counts an incident, once for all that was under way when it happened.
  ///
  /// - Parameter isOffline: this machine reaches nothing: nothing climbs.
  /// - Returns: what to keep, if it counts.
  package mutating func climb(
    _ failure: FetchFailure, askedIn: Int, isOffline: Bool, now: Double, jitter: (Double) -> Double
  ) -> SourceRecord? {
    if failure.httpStatus == 429 || failure.httpStatus == 503 { slowDown(askedIn) }
    guard askedIn == epoch else { return nil }
    epoch += 1
    guard !isOffline else {
      notBefore = max(notBefore, now + jitter(Self.offlineWait))
      return nil
    }
    failures = failures == .max ? .max : failures + 1
    let asked = min(failure.exchange.retryAfter ?? 0, RetryLadder.ceiling)
    let wait = max(RetryLadder.wait(failures: failures), asked)
    notBefore = max(notBefore, now + jitter(wait))
    return .failed(failures, atLeast: asked)
  }

  /// Half as many requests at a time, once for each time that it says so.
  private mutating func slowDown(_ askedIn: Int) {
    guard askedIn == epoch else { return }
    (limit, untilMore) = (max(1, limit / 2), 0)
  }

  /// An answer that is no use in itself: asked again a little later, and not for ever.
  mutating func strike(_ failure: FetchFailure, wait: Double, limit: Int, now: Double) {
    strikes += 1
    notBefore = max(notBefore, now + wait)
    // That it does not let us in does not pass by asking again.
    let isFinal = [401, 403].contains(failure.httpStatus) && !failure.exchange.wasRedirected
    if isFinal || strikes >= limit { end = failure }
  }

  /// Others are better for now; that is no failure.
  mutating func setAside(until time: Double) { notBefore = max(notBefore, time) }

  /// Wrong bytes under a right head, on a connection opened after the lie before.
  mutating func lie() { lies += 1 }

  /// It may be asked again in this run; the next one holds it as before.
  mutating func release() { heldUntil = -.infinity }

  /// - Returns: what to keep.
  mutating func hold(now: Double) -> SourceRecord {
    heldUntil = now + HoldRecord.duration
    return .held
  }
}

/// Who sent what, and who was refused for what.
package struct SourceReport: Sendable, Equatable {
  package var name: String
  /// Verified bytes that came from it.
  package var bytes: Int64
  package var refusals: [FailureCategory: Int]
  /// Why it is of no use any more, if it is so.
  package var end: FetchFailure?

  package init(_ health: SourceHealth) {
    (name, bytes, refusals) = (health.name, health.verifiedBytes, health.refusals)
    end = health.end
  }
}

extension SourceHealth {
  /// What another part of the run begins with.
  package func seed(now: Double) -> SourceSeed {
    var seed = SourceSeed(name: name)
    seed.failures = failures
    seed.wait = max(0, notBefore - now)
    seed.held = max(0, heldUntil - now)
    return seed
  }
}
