import Failure

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
  package var proxy = ProxyChoice()
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

  /// What watches a transfer that begins now.
  func makeWatch(now: Double) -> StallWatch {
    StallWatch(limit: stall, firstByteTimeout: firstByteTimeout, now: now)
  }

  /// Where a redirect may lead.
  /// - Throws: `redirect-refused`.
  package func checkRedirect(from: WebURL, to: WebURL, hops: Int) throws(FetchFailure) {
    guard hops <= Self.maximumRedirects else {
      throw FetchFailure(
        .redirectRefused,
        "the server redirects more than \(Self.maximumRedirects) times, at last to \(to.place)")
    }
    guard from.scheme == "http" || to.scheme == "https" else {
      throw FetchFailure(
        .redirectRefused, "the server redirects from https to http, to \(to.place)")
    }
    try proxy.check(to)
  }
}
