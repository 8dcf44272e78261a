import CLibcurl
import Failure
import System

/// What libcurl tells of a transfer that has ended.
extension CurlEasy {
  /// `CURLE_TOO_LARGE`, which libcurl has since 8.6.
  private static let tooLarge = CURLcode(rawValue: 100)

  /// What a result means; nil for success.
  func failure(_ code: CURLcode, _ request: Request) -> FetchFailure? {
    if let failure = proxyFailure(code, request.url) { return failure }
    let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    func failure(_ category: FailureCategory, _ what: String) -> FetchFailure {
      FetchFailure(category, "\(what): \(text.shortened(to: 200))")
    }
    if let failure = tls?.failure(code, text.shortened(to: 200), of: handle) { return failure }
    switch code {
    case CURLE_OK: return nil
    case CURLE_COULDNT_RESOLVE_HOST: return failure(.unreachable, "the name does not resolve")
    case CURLE_COULDNT_CONNECT: return failure(.unreachable, "no connection")
    case CURLE_OPERATION_TIMEDOUT: return failure(.timeout, "no connection in time")
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
      return failure(.truncated, "the connection broke off")
    case CURLE_HTTP2, CURLE_HTTP2_STREAM: return failure(.truncated, "HTTP/2 broke off")
    // libcurl says so when a single header line outgrows its own bound.
    case CURLE_OUT_OF_MEMORY, CURLE_FILESIZE_EXCEEDED, Self.tooLarge:
      return FetchFailure(.tooLarge, "a header line of the response is longer than allowed")
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
      return failure(.truncated, "the answer is no HTTP response")
    default: return failure(.unreachable, "the transfer failed")
    }
  }

  /// What the connection tells beside the answer on it.
  ///
  /// - Parameters:
  ///   - code: libcurl's result; `CURLE_OK` if it was us who ended the transfer.
  ///   - hasAnswer: whether anything of an answer came.
  func exchange(_ code: CURLcode, _ request: Request, hasAnswer: Bool) -> Exchange {
    var exchange = Exchange()
    let connects = number(CURLINFO_NUM_CONNECTS)
    exchange.wasReused = hasAsked && connects == 0
    // libcurl itself asks again, on another connection, after a stream that was refused and after a
    // kept connection that was gone, five times. It does not after a GOAWAY, which looks to it like
    // any other end.
    let wasTurnedAway = detail.hasPrefix("Connection died, tried")
    let brokeOff: Bool
    switch code {
    case CURLE_HTTP2, CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
      brokeOff = true
    default: brokeOff = false
    }
    exchange.wasUnprocessed =
      brokeOff && (wasTurnedAway || exchange.wasReused && !hasAnswer)
    exchange.isHTTP2Fault =
      code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM
      || wasTurnedAway && request.mayUseHTTP2 && connects > 0
    // OpenSSL names the alert 120 of RFC 7301 section 3.2.
    exchange.needsHTTP2 =
      request.version == .http1 && code == CURLE_SSL_CONNECT_ERROR
      && detail.contains("no application protocol")
    exchange.isLocal =
      proxy == nil
      ? code == CURLE_OPERATION_TIMEDOUT && !hasAddress
      : isProxyOutOfReach(code)
    exchange.wasRefusedBeyondProxy = wasRefusedBeyondProxy(code)
    return exchange
  }

  /// Whether the failure may be the fault of this machine, which reaches nothing: libcurl does not tell
  /// a name that does not exist from a resolver that does not answer, and of several addresses it names
  /// the error of the last one.
  func mayBeCutOff(_ code: CURLcode) -> Bool {
    guard proxy == nil else { return false }
    return switch code {
    case CURLE_COULDNT_RESOLVE_HOST: true
    case CURLE_COULDNT_CONNECT: SystemError.noRoute.contains(Int32(number(CURLINFO_OS_ERRNO)))
    default: false
    }
  }

  /// What libcurl says of a failure; empty if it says nothing.
  var detail: String { String(cString: errorText) }

  /// Whether the request, or a part of it, was handed to a connection.
  var hasAsked: Bool { time(CURLINFO_PRETRANSFER_TIME_T) > 0 }

  private var hasAddress: Bool { time(CURLINFO_NAMELOOKUP_TIME_T) > 0 }

  private func time(_ info: CURLINFO) -> curl_off_t {
    var time = curl_off_t()
    fetchres_curl_get_offset(handle, info, &time)
    return time
  }

  func number(_ info: CURLINFO) -> Int {
    var value = 0
    fetchres_curl_get_long(handle, info, &value)
    return value
  }
}
