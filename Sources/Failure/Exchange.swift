/// What a failed exchange with a source tells beside the category of the failure: nothing to show, but
/// something to decide by.
package struct Exchange: Sendable, Equatable {
  /// Seconds that the source wants to be left alone, from the answer on (RFC 9110 10.2.3): at least 0,
  /// at most ``longestRetryAfter``; nil if it says none, or nonsense.
  package var retryAfter: Double?
  /// The source did not begin to process the request: a stream that it refused (RFC 9113 8.7), or a
  /// kept connection that was gone before anything of an answer came.
  package var wasUnprocessed = false
  /// The connection had served another request before.
  package var wasReused = false
  /// What broke is HTTP/2 itself, not the content.
  package var isHTTP2Fault = false
  /// The source does not speak HTTP/1.1.
  package var needsHTTP2 = false
  /// This machine reaches nothing: no route, or no answer from a resolver.
  package var isLocal = false
  /// A proxy is up and through, and says that the server is not to be reached.
  package var wasRefusedBeyondProxy = false
  /// The status came from the target of a redirect, not from the source itself.
  package var wasRedirected = false

  /// Seconds: seven days.
  package static let longestRetryAfter = 7.0 * 86_400

  package init() {}
}
