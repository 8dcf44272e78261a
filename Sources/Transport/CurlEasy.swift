import CLibcurl
import Failure

/// One libcurl transfer handle, set up for a request. Used on the curl thread alone.
final class CurlEasy {
  let handle: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>
  private var tls: TLSSetup?

  init() {
    guard let handle = curl_easy_init() else { fatalError("Transport: out of memory") }
    self.handle = handle
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.pointee = 0
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(headers)
    errorText.deallocate()
  }

  /// Sets every option anew: nothing of an earlier request stays but connections and sessions.
  func prepare(_ request: Request, _ policy: RequestPolicy, context: UnsafeMutableRawPointer) {
    curl_easy_reset(handle)
    set(CURLOPT_ERRORBUFFER, pointer: errorText)
    set(CURLOPT_URL, request.url.text)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Always both: otherwise libcurl reads them from the environment.
    set(CURLOPT_PROXY, "")
    set(CURLOPT_NOPROXY, "")
    set(CURLOPT_NOSIGNAL, 1)
    // Redirects are ours to judge, and nothing is decoded.
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    set(
      CURLOPT_BUFFERSIZE,
      min(
        request.isBulk ? 512 << 10 : 32 << 10,
        policy.rateLimit.map { RateLimiter.pieceSize(bytesPerSecond: $0) } ?? .max))
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(policy.connectTimeout * 1_000))
    set(CURLOPT_USERAGENT, policy.userAgent)
    set(CURLOPT_FRESH_CONNECT, request.needsFreshConnection ? 1 : 0)
    let tls = TLSSetup(request, policy)
    tls.apply(to: handle)
    self.tls = tls
    if let range = request.range {
      set(CURLOPT_RANGE, "\(range.lowerBound)-\(range.upperBound - 1)")
    }
    curl_slist_free_all(headers)
    headers = nil
    if let origin = policy.credentialsOrigin, request.url.hasSameOrigin(as: origin) {
      for header in policy.headers { headers = curl_slist_append(headers, header) }
    }
    if request.revalidates { headers = curl_slist_append(headers, "Cache-Control: no-cache") }
    _ = fetchres_curl_set_list(handle, CURLOPT_HTTPHEADER, headers)

    set(CURLOPT_PRIVATE, pointer: context)
    set(CURLOPT_HEADERDATA, pointer: context)
    set(CURLOPT_WRITEDATA, pointer: context)
    _ = fetchres_curl_set_data_callback(handle, CURLOPT_HEADERFUNCTION) {
      bytes, size, count, context in
      Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
        .receiveHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    _ = fetchres_curl_set_data_callback(handle, CURLOPT_WRITEFUNCTION) {
      bytes, size, count, context in
      Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
        .receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
  }

  /// Where the response says to go, made absolute.
  var redirectTarget: String? {
    var text: UnsafeMutablePointer<CChar>?
    guard fetchres_curl_get_string(handle, CURLINFO_REDIRECT_URL, &text) == CURLE_OK else {
      return nil
    }
    return text.map { String(cString: $0) }
  }

  /// What a result of libcurl means; nil for success.
  func failure(_ code: CURLcode) -> FetchFailure? {
    let detail = String(cString: errorText)
    let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    if let failure = tls?.failure(code, String(text.prefix(200)), of: handle) { return failure }
    func failure(_ category: FailureCategory, _ what: String) -> FetchFailure {
      FetchFailure(category, "\(what): \(text.prefix(200))")
    }
    switch code {
    case CURLE_OK: return nil
    case CURLE_COULDNT_RESOLVE_HOST: return failure(.unreachable, "the name does not resolve")
    case CURLE_COULDNT_CONNECT: return failure(.unreachable, "no connection")
    case CURLE_OPERATION_TIMEDOUT: return failure(.timeout, "no connection in time")
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR:
      return failure(.truncated, "the connection broke off")
    // libcurl says so when a single header line outgrows its own bound.
    case CURLE_OUT_OF_MEMORY, CURLE_FILESIZE_EXCEEDED:
      return FetchFailure(.tooLarge, "a header line of the response is longer than allowed")
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
      return failure(.truncated, "the answer is no HTTP response")
    default: return failure(.unreachable, "the transfer failed")
    }
  }

  private func set(_ option: CURLoption, _ value: Int) {
    _ = fetchres_curl_set_long(handle, option, value)
  }

  private func set(_ option: CURLoption, _ value: String) {
    _ = fetchres_curl_set_string(handle, option, value)
  }

  private func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer) {
    _ = fetchres_curl_set_pointer(handle, option, pointer)
  }
}
