import CLibcurl
import Failure

/// What went wrong on the way to the proxy, or in it. All of that is `proxy-unreachable`.
extension CurlEasy {
  /// Nil where the fault lies elsewhere, or there is no proxy.
  func proxyFailure(_ code: CURLcode, _ url: WebURL) -> FetchFailure? {
    guard let proxy, code != CURLE_OK else { return nil }
    let text = (detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail).shortened(
      to: 200)
    let answer = number(CURLINFO_HTTP_CONNECTCODE)
    func failure(_ message: String) -> FetchFailure { FetchFailure(.proxyUnreachable, message) }
    switch code {
    case _ where Self.isAnswer(code, status: answer): break
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST:
      return failure("the name of the proxy \(proxy.shown) does not resolve")
    case CURLE_COULDNT_CONNECT:
      return failure("no connection to the proxy \(proxy.shown): \(text)")
    case CURLE_PROXY:
      return failure("the proxy \(proxy.shown) does not let us through: \(text)")
    default: break
    }
    // Where a request was sent, there was a way to the server.
    guard !hasAsked else { return nil }
    let isTLS = isAboutTLS(code)
    switch proxy.kind {
    case .socks5h where isTLS || text.contains("SSL connection timeout"): return nil
    case .http where 200..<300 ~= answer, .https where 200..<300 ~= answer:
      // What does not even look like TLS comes from the proxy more often than from a server.
      guard isTLS, text.contains("wrong version number") || text.contains("length too long")
      else { return nil }
      return failure("the proxy \(proxy.shown) answers, and what it gives is no tunnel")
    case .http where answer == 407, .https where answer == 407: return wantsPassword(proxy)
    case .http where answer > 0, .https where answer > 0:
      return failure("the proxy \(proxy.shown) answers CONNECT with HTTP \(answer)")
    case .socks5h, .http, .https:
      return failure("the proxy \(proxy.shown) does not let us through: \(text)")
    }
  }

  /// The answer 407 to a request that the proxy itself was asked; nil if it is the server's.
  func proxyRefusal(of url: WebURL) -> FetchFailure? {
    guard let proxy, !proxy.tunnels(url) else { return nil }
    return wantsPassword(proxy)
  }

  private func wantsPassword(_ proxy: ProxyServer) -> FetchFailure {
    FetchFailure(
      .proxyUnreachable,
      proxy.user == nil
        ? "the proxy \(proxy.shown) asks for a user and a password"
        : "the proxy \(proxy.shown) does not take that user and password",
      hint: "--proxy-auth-file FILE gives them")
  }

  /// Whether that result is what the proxy answered: since libcurl 8.20 a CONNECT that is refused is
  /// called no connection.
  ///
  /// - Parameter status: of the answer to CONNECT; 0 if there was none.
  static func isAnswer(_ code: CURLcode, status: Int) -> Bool {
    code == CURLE_COULDNT_CONNECT && status > 0
  }

  /// Whether the proxy itself was not reached, which is no fault of any source.
  func isProxyOutOfReach(_ code: CURLcode) -> Bool {
    switch code {
    case _ where Self.isAnswer(code, status: number(CURLINFO_HTTP_CONNECTCODE)): false
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: true
    case CURLE_OPERATION_TIMEDOUT: !hasAsked && number(CURLINFO_NUM_CONNECTS) == 0
    default: false
    }
  }

  /// Whether a proxy got as far as the server's network, and was turned away there (RFC 1928 section 6).
  func wasRefusedBeyondProxy(_ code: CURLcode) -> Bool {
    guard proxy != nil, code == CURLE_PROXY else { return false }
    return [
      CURLPX_REPLY_CONNECTION_REFUSED, CURLPX_REPLY_HOST_UNREACHABLE,
      CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_NOT_ALLOWED,
    ].contains { Int($0.rawValue) == number(CURLINFO_PROXY_ERROR) }
  }

  private func isAboutTLS(_ code: CURLcode) -> Bool {
    switch code {
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_USE_SSL_FAILED:
      true
    default: false
    }
  }
}
