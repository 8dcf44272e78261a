import CLibcurl
import Failure
import System

/// The TLS side of one request: what is trusted, what is shown, and what went wrong.
struct TLSSetup {
  private let certificateFile: String?
  private let clientCertificate: ClientCertificate?
  private let pins: [String]
  private let host: String

  /// Certificate and pins belong to the origin of the credentials: where a redirect leads they are
  /// neither shown nor asked for.
  init(_ request: Request, _ policy: RequestPolicy) {
    certificateFile = policy.certificateFile
    host = request.url.authority
    let isOwn = policy.credentialsOrigin.map { request.url.hasSameOrigin(as: $0) } ?? false
    clientCertificate = isOwn ? policy.clientCertificate : nil
    pins = isOwn ? policy.pins : []
  }

  /// Sets the options of a handle that was reset. libcurl keeps connections and sessions apart by them:
  /// one that was made with a certificate serves no request without it.
  func apply(to easy: UnsafeMutableRawPointer) {
    // The defaults of libcurl, said out loud: there is no switch for them.
    _ = fetchres_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    _ = fetchres_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    _ = fetchres_curl_set_long(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    if let certificateFile {
      _ = fetchres_curl_set_string(easy, CURLOPT_CAINFO, certificateFile)
      // Else the system's directory of certificates would be trusted too.
      _ = fetchres_curl_set_nothing(easy, CURLOPT_CAPATH)
    }
    if !pins.isEmpty {
      _ = fetchres_curl_set_string(
        easy, CURLOPT_PINNEDPUBLICKEY, pins.map { "sha256//\($0)" }.joined(separator: ";"))
    }
    if let clientCertificate {
      clientCertificate.chain.withBytes {
        _ = fetchres_curl_set_lent_bytes(easy, CURLOPT_SSLCERT_BLOB, $0.baseAddress, $0.count)
      }
      clientCertificate.key.withBytes {
        _ = fetchres_curl_set_lent_bytes(easy, CURLOPT_SSLKEY_BLOB, $0.baseAddress, $0.count)
      }
    }
  }

  /// What a result of libcurl means if it is about TLS.
  func failure(
    _ code: CURLcode, _ detail: String, of easy: UnsafeMutableRawPointer
  ) -> FetchFailure? {
    var verdict = 0
    _ = fetchres_curl_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verdict)
    return TLSFailure(
      host: host, hasClientCertificate: clientCertificate != nil,
      now: UTCDate(seconds: Clocks.wall())
    ).failure(code, verdict: verdict, detail: detail)
  }
}
