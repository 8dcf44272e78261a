import CLibcurl
import Failure

/// One libcurl transfer handle, set up for a request. Used on the curl thread alone.
final class CurlEasy {
  let handle: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  let errorText: UnsafeMutablePointer<CChar>
  private(set) var tls: TLSSetup?
  private(set) var proxy: ProxyServer?

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
    let proxy = policy.proxy.server(for: request.url)
    apply(proxy, for: request.url, trusting: policy.certificateFile)
    self.proxy = proxy
    set(CURLOPT_NOSIGNAL, 1)
    // A resolver that does not answer holds nobody up who wants to end.
    set(CURLOPT_QUICK_EXIT, 1)
    // Redirects are ours to judge, and nothing is decoded.
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    let mayUseHTTP2 = request.mayUseHTTP2
    set(CURLOPT_HTTP_VERSION, mayUseHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
    // Whoever comes while a connection is being made that can be shared waits for it. Over plain HTTP
    // nobody would know before the first answer, and all others would have waited for nothing.
    set(CURLOPT_PIPEWAIT, mayUseHTTP2 ? 1 : 0)
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
