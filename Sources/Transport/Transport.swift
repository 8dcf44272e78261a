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
