import Failure
import Synchronization

/// One GET.
package struct Request: Sendable {
  package var url: WebURL
  /// The bytes to ask for; nil for the whole.
  package var range: Range<Int64>?
  /// Whether a cache on the way has to ask the origin.
  package var revalidates = false
  /// Whether the request must not use a connection that served another one before.
  package var needsFreshConnection = false
  /// Whether a lot of bytes will come: worth a large buffer.
  package var isBulk = false
  package var version = HTTPVersion.automatic

  package init(_ url: WebURL, range: Range<Int64>? = nil) {
    (self.url, self.range) = (url, range)
  }

  /// HTTP/2 without TLS would have to be known of beforehand.
  var mayUseHTTP2: Bool { version == .automatic && url.scheme == "https" }
}

/// Which version of HTTP a request goes over.
package enum HTTPVersion: Sendable, Equatable {
  /// HTTP/1.1 alone.
  case http1
  /// HTTP/2 over TLS where the server offers it, else HTTP/1.1.
  case automatic
}

/// What a receiver makes of a piece of the body.
package enum BodyAnswer {
  /// All of it was taken.
  case taken
  /// Not all of it, or none: offer it again from its first byte after `resumePaused()`, in pieces of
  /// any size. What was taken is known to the receiver.
  case pause
  /// The transfer ends with this failure.
  case refuse(FetchFailure)
}

/// Receives one response. Called on the transport's thread: nothing in here may block.
package protocol ResponseReceiver: AnyObject, Sendable {
  /// Called once, when the final head is complete and before any of the body. Throwing ends the
  /// transfer with that failure.
  func receive(head: ResponseHead) throws(FetchFailure)
  func receive(body: UnsafeRawBufferPointer) -> BodyAnswer
  /// Called once, last. Nil for a response that came to its announced end.
  func finish(_ failure: FetchFailure?)
}

package struct TransferID: Sendable, Hashable {
  let number: UInt64

  private static let count = Atomic<UInt64>(0)

  /// One that no transfer of this process had before, whichever transport it runs on.
  package static func next() -> TransferID {
    TransferID(number: count.add(1, ordering: .relaxed).newValue)
  }
}

/// The way to the network.
package protocol Transport: Sendable {
  /// Starts a request; the receiver hears of it from then on.
  func start(_ request: Request, _ receiver: any ResponseReceiver) -> TransferID
  /// Ends a transfer; its receiver finishes with `interrupted`, unless it has finished already.
  func cancel(_ transfer: TransferID)
  /// Offers paused bodies again.
  func resumePaused()
  /// Ends all transfers and the thread.
  func stop()
}

/// What every request of a run shares.
package struct RequestPolicy: Sendable {
  package var userAgent: String
  /// Header lines of the user. They belong to `credentialsOrigin` and go to no other.
  package var headers: [String] = []
  package var credentialsOrigin: WebURL?
  /// A file of certificates to trust instead of the system's.
  package var certificateFile: String?
  /// What is shown to `credentialsOrigin`, and to no other.
  package var clientCertificate: ClientCertificate?
  /// SHA-256 of public keys in base64; `credentialsOrigin` has to have one of them. Empty for any.
  package var pins: [String] = []
  /// Seconds to a connection, TLS included.
  package var connectTimeout: Double = 10
  /// Seconds from the request to the first byte of its answer.
  package var firstByteTimeout: Double = 30
  /// A transfer that stays below this rate over the window is given up.
  package var stall = StallLimit(bytesPerSecond: 1_024, window: 20)
  /// Bytes a second for all bodies together; nil for no limit.
  package var rateLimit: Int64?

  package static let maximumRedirects = 10

  package init(userAgent: String) { self.userAgent = userAgent }

  /// Where a redirect may lead.
  /// - Throws: `redirect-refused`.
  package func checkRedirect(from: WebURL, to: WebURL, hops: Int) throws(FetchFailure) {
    guard hops <= Self.maximumRedirects else {
      throw FetchFailure(
        .redirectRefused, "the server redirects more than \(Self.maximumRedirects) times")
    }
    guard from.scheme == "http" || to.scheme == "https" else {
      throw FetchFailure(
        .redirectRefused, "the server redirects from https to http, at \(to.shown)")
    }
  }
}

/// A floor under the rate of a transfer.
package struct StallLimit: Sendable, Equatable {
  package var bytesPerSecond: Int64
  /// Seconds.
  package var window: Double

  package init(bytesPerSecond: Int64, window: Double) {
    (self.bytesPerSecond, self.window) = (bytesPerSecond, window)
  }
}

/// Watches one transfer: silence before the first byte, and a rate below the floor after it. Times
/// are seconds on the monotonic clock.
package struct StallWatch: Sendable {
  private let limit: StallLimit
  private let firstByteTimeout: Double
  private var hasBegun = false
  private var windowStart: Double
  private var windowBytes: Int64 = 0

  package init(limit: StallLimit, firstByteTimeout: Double, now: Double) {
    (self.limit, self.firstByteTimeout, windowStart) = (limit, firstByteTimeout, now)
  }

  package mutating func receive(_ count: Int, now: Double) {
    if !hasBegun { restart(now: now) }
    hasBegun = true
    windowBytes += Int64(count)
  }

  /// Time in which the transfer could not move, by our doing, does not count.
  package mutating func restart(now: Double) { (windowStart, windowBytes) = (now, 0) }

  /// Nil while the transfer is well.
  package mutating func check(now: Double) -> FetchFailure? {
    let waited = now - windowStart
    guard hasBegun else {
      guard waited >= firstByteTimeout else { return nil }
      return FetchFailure(.timeout, "no answer within \(Int(firstByteTimeout)) s")
    }
    guard waited >= limit.window else { return nil }
    guard Double(windowBytes) < Double(limit.bytesPerSecond) * limit.window else {
      restart(now: now)
      return nil
    }
    return FetchFailure(
      .stalled, "\(windowBytes) bytes in \(Int(limit.window)) s: given up as stalled")
  }
}
