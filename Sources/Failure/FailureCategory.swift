/// What kind of thing went wrong: one stable word each, used in messages, `--json` events and logs.
///
/// The words are part of the contract: scripts match on them. New words may be added.
public enum FailureCategory: String, Sendable, Hashable, CaseIterable {
  // The way to a source.
  case unreachable
  case timeout
  case stalled
  case truncated
  case httpStatus = "http-status"
  case rangeIgnored = "range-ignored"
  case rangeMismatch = "range-mismatch"
  case encodedBody = "encoded-body"
  case tooLarge = "too-large"
  case redirectRefused = "redirect-refused"
  case tls
  case proxyUnreachable = "proxy-unreachable"
  case torStalled = "tor-stalled"

  // Content against the tree.
  case blockMismatch = "block-mismatch"
  case proofMalformed = "proof-malformed"
  case tileInvalid = "tile-invalid"

  // Notes, manifests, the release log.
  case noteMalformed = "note-malformed"
  case unknownKey = "unknown-key"
  case badSignature = "bad-signature"
  case originMismatch = "origin-mismatch"
  case manifestMalformed = "manifest-malformed"
  case expired
  case stale
  case rollback
  case fork
  case withheld
  case keyChange = "key-change"
  case notLogged = "not-logged"
  case versionReused = "version-reused"

  // This machine.
  case noSpace = "no-space"
  case ioError = "io-error"
  case permission
  case locked
  case sizeMismatch = "size-mismatch"

  // The run itself.
  case newVersion = "new-version"
  case interrupted
  case usage
  /// Something asked for is not there, or a fault of our own: nothing that a source did.
  case unavailable
}

extension FailureCategory {
  /// The exit status of a run that ends with this category alone.
  ///
  /// - Parameter httpStatus: the status behind `http-status`; ignored for every other word.
  public func exitCode(httpStatus: Int? = nil) -> Int32 {
    switch self {
    case .unavailable: 1
    case .usage: 2
    case .unreachable, .timeout, .stalled, .truncated, .tls, .proxyUnreachable, .torStalled: 3
    case .httpStatus: Self.isTransient(httpStatus: httpStatus ?? 0) ? 3 : 4
    case .rangeIgnored, .rangeMismatch, .encodedBody, .tooLarge, .redirectRefused: 4
    case .blockMismatch, .proofMalformed, .tileInvalid: 4
    case .noteMalformed, .manifestMalformed, .stale: 4
    case .unknownKey, .badSignature, .originMismatch, .expired: 5
    // Where `withheld` ends a run; otherwise it warns.
    case .rollback, .fork, .withheld, .keyChange, .notLogged, .versionReused: 5
    case .noSpace, .ioError, .permission, .sizeMismatch: 6
    case .locked: 7
    case .newVersion: 8
    case .interrupted: 130
    }
  }

  /// Whether asking again later may help after this HTTP status: 408, 425, 429 and every 5xx.
  public static func isTransient(httpStatus: Int) -> Bool {
    switch httpStatus {
    case 408, 425, 429, 500...599: true
    default: false
    }
  }
}
