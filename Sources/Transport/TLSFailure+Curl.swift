import CLibcurl
import Failure

/// Why there is no TLS connection, in words: which host, and what is wrong with what it showed.
struct TLSFailure {
  /// The host, with its port unless that is the usual one.
  let host: String
  /// Whether this side had a certificate of its own to show.
  let hasClientCertificate: Bool
  let now: UTCDate

  /// What OpenSSL's verification of the chain says: `CURLINFO_SSL_VERIFYRESULT`.
  private enum Verdict: Int {
    case ok = 0
    case noIssuer = 2
    case notYetValid = 9
    case expired = 10
    case selfSigned = 18
    case selfSignedInChain = 19
    case noLocalIssuer = 20
    case unverifiableLeaf = 21
    case revoked = 23
    case otherHost = 62
    case otherAddress = 64
  }

  /// Nil for a result that has nothing to do with TLS.
  ///
  /// - Parameters:
  ///   - verdict: what the verification of the server's chain said, 0 for nothing wrong.
  ///   - detail: libcurl's own words.
  func failure(_ code: CURLcode, verdict: Int, detail: String) -> FetchFailure? {
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION: distrusted(verdict, detail)
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      tls(
        "the public key of \(host) is none of those given with --pin-sha256",
        "somebody stands in between, or the server has a new key: ask its operator")
    case CURLE_SSL_CERTPROBLEM:
      tls("the client certificate cannot be used: \(detail)", "import it again")
    case CURLE_SSL_CACERT_BADFILE:
      tls("the certificates to trust cannot be used: \(detail)", "look at --cacert")
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND, CURLE_USE_SSL_FAILED:
      refusedCertificate(detail) ?? noHandshake(detail)
    // With TLS 1.3 a server says after the handshake that it wants another certificate.
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: refusedCertificate(detail)
    default: nil
    }
  }

  private func tls(_ message: String, _ hint: String? = nil) -> FetchFailure {
    FetchFailure(.tls, message, hint: hint)
  }

  private func distrusted(_ number: Int, _ detail: String) -> FetchFailure {
    // libcurl looks at the name itself, and OpenSSL's verdict says nothing then.
    if detail.contains("subject name") { return otherName }
    let clock = "the local clock says \(now.text)"
    switch Verdict(rawValue: number) {
    case .expired:
      return tls(
        "the certificate of \(host), or of an issuer of it, has expired; \(clock)",
        "set the clock if it is wrong, else tell the operator of the server")
    case .notYetValid:
      return tls(
        "the certificate of \(host), or of an issuer of it, is not valid yet; \(clock)",
        "set the clock if it is wrong, else tell the operator of the server")
    case .noIssuer, .noLocalIssuer, .unverifiableLeaf, .selfSigned, .selfSignedInChain:
      return tls(
        "the issuer of the certificate of \(host) is unknown here",
        "--cacert FILE trusts an authority of your own")
    case .revoked:
      return tls("the certificate of \(host) is revoked")
    case .otherHost, .otherAddress:
      return otherName
    case .ok, nil:
      return tls("the certificate of \(host) does not verify: \(detail)")
    }
  }

  private var otherName: FetchFailure {
    tls(
      "the certificate that \(host) shows is for another name",
      "look at the URL; the name in it has to be one of those in the certificate")
  }

  private func noHandshake(_ detail: String) -> FetchFailure {
    if detail.contains("wrong version number") || detail.contains("packet length too long") {
      return tls("\(host) does not speak TLS on this port", "is it an http URL?")
    }
    if detail.contains("unsupported protocol") || detail.contains("alert protocol version") {
      return tls("\(host) offers no TLS 1.2 or later")
    }
    return tls("no TLS connection to \(host): \(detail)")
  }

  /// What the server's alert says about the certificate of this side; nil if it is about something else.
  private func refusedCertificate(_ detail: String) -> FetchFailure? {
    let alerts = [
      ("alert certificate required", "it asks for one"),
      ("alert bad certificate", "it is bad, or the server cannot check it"),
      ("alert certificate expired", "it has expired"),
      ("alert certificate revoked", "it is revoked"),
      ("alert unsupported certificate", "it is of a kind that the server does not take"),
      ("alert certificate unknown", "the server does not take it"),
      ("alert unknown ca", "the server does not know its issuer"),
      ("alert access denied", "the server does not let it in"),
    ]
    guard let reason = alerts.first(where: { detail.contains($0.0) })?.1 else {
      guard detail.contains("alert handshake failure"), !hasClientCertificate else { return nil }
      return tls(
        "\(host) ends the TLS handshake; servers that ask for a client certificate do",
        Self.identityHint)
    }
    guard hasClientCertificate else {
      return tls("\(host) asks for a client certificate", Self.identityHint)
    }
    return tls("\(host) refuses the client certificate: \(reason)")
  }

  static let identityHint = "import one with 'fetchres identity import', then give --identity NAME"
}
