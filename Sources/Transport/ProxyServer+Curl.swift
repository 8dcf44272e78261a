import CLibcurl
import Failure

/// A proxy that the user chose. Names of servers are resolved by it, never here.
package struct ProxyServer: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case http
    case https
    /// SOCKS version 5, with names instead of addresses.
    case socks5h
  }

  package let kind: Kind
  /// Lower case; an IPv6 address stands in brackets.
  package let host: String
  package let port: Int
  /// Secrets.
  package private(set) var user: String?
  package private(set) var password: String?
  /// If it is set, the proxy is Tor: what is fetched under this name shares a circuit with nothing else,
  /// and of that each server has its own. Tor goes by what it is given as user and password.
  package var isolation: String?

  /// The most that SOCKS has room for, in a name, a user or a password (RFC 1928, RFC 1929).
  static let maximumByteCount = 255

  /// Parses `[SCHEME://][USER[:PASSWORD]@]HOST[:PORT]`, the scheme http if there is none.
  ///
  /// - Throws: `usage`. The text is never quoted: it may hold a password.
  package init(_ text: String) throws(FetchFailure) {
    func refusal(_ why: String, hint: String? = nil) -> FetchFailure {
      FetchFailure(
        .usage, "the proxy \(URLText.shown(text)) \(why)",
        hint: hint ?? "give it as http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT")
    }
    let isPrintable = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard !text.isEmpty, text.utf8.count <= 2_048, isPrintable else {
      throw refusal("is no URL: spaces, control and other characters have to be percent-encoded")
    }
    guard let handle = curl_url() else { fatalError("Transport: out of memory") }
    defer { curl_url_cleanup(handle) }
    let whole = text.contains("://") ? text : "http://" + text
    guard
      curl_url_set(handle, CURLUPART_URL, whole, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK
    else { throw refusal("is no URL") }
    func part(_ which: CURLUPart, _ flags: UInt32 = 0) -> String? {
      var value: UnsafeMutablePointer<CChar>?
      guard curl_url_get(handle, which, &value, flags) == CURLUE_OK, let value else { return nil }
      defer { curl_free(value) }
      return String(cString: value)
    }
    let scheme = part(CURLUPART_SCHEME)?.lowercased() ?? ""
    guard let kind = Kind(rawValue: scheme) else {
      throw ["socks", "socks4", "socks4a", "socks5"].contains(scheme)
        ? refusal(
          "would have names resolved here, where others see them",
          hint: "socks5h:// has the proxy resolve them")
        : refusal("is of a kind that is not known")
    }
    guard let host = part(CURLUPART_HOST)?.lowercased(), !host.isEmpty,
      host.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw refusal("names no host") }
    guard part(CURLUPART_PATH).map({ $0 == "/" }) ?? true, part(CURLUPART_QUERY) == nil,
      part(CURLUPART_FRAGMENT) == nil
    else { throw refusal("has more than a host and a port") }
    self.kind = kind
    self.host = host
    let usual =
      switch kind {
      case .http: 80
      case .https: 443
      case .socks5h: 1_080
      }
    port = part(CURLUPART_PORT).flatMap { Int($0) } ?? usual
    guard port > 0 else { throw refusal("has port 0, on which nothing can listen") }
    if part(CURLUPART_USER) != nil || part(CURLUPART_PASSWORD) != nil {
      // Libcurl decodes no control characters.
      guard let user = part(CURLUPART_USER, UInt32(CURLU_URLDECODE)) else {
        throw refusal("has a user that cannot be told to it")
      }
      guard
        part(CURLUPART_PASSWORD) == nil || part(CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE)) != nil
      else { throw refusal("has a password that cannot be told to it") }
      try authenticate(user, part(CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE)) ?? "")
    }
  }

  /// - Throws: `usage` for what the proxy cannot be told.
  package mutating func authenticate(
    _ user: String, _ password: String
  ) throws(FetchFailure) {
    for text in [user, password] {
      guard text.utf8.count <= Self.maximumByteCount,
        text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
      else {
        throw FetchFailure(
          .usage, "user and password of the proxy have at most 255 bytes, none a control character")
      }
    }
    guard !user.isEmpty, kind == .socks5h || !user.contains(":") else {
      throw FetchFailure(.usage, "the user of the proxy is empty, or has a colon in it")
    }
    (self.user, self.password) = (user, password)
  }

  /// Without user and password, fit for messages.
  package var shown: String { "\(kind.rawValue)://\(host):\(port)" }

  /// What the proxy is told for requests to that URL; nil if it asks for nothing.
  func credentials(for url: WebURL) -> (user: String, password: String)? {
    if let isolation {
      return (
        String(decoding: isolation.utf8.prefix(Self.maximumByteCount), as: UTF8.self),
        String(decoding: url.place.utf8.suffix(Self.maximumByteCount), as: UTF8.self)
      )
    }
    return user.map { ($0, password ?? "") }
  }

  /// Whether a request to that URL goes through a tunnel, of which the proxy sees no more than where it
  /// leads. An HTTP proxy is asked for plain http itself.
  func tunnels(_ url: WebURL) -> Bool { kind == .socks5h || url.scheme == "https" }
}

extension CurlEasy {
  /// Sets the way out, always: otherwise libcurl reads it from the environment, where `NO_PROXY` would
  /// override it.
  func apply(_ proxy: ProxyServer?, for url: WebURL, trusting certificateFile: String?) {
    func set(_ option: CURLoption, _ value: String) {
      _ = fetchres_curl_set_string(handle, option, value)
    }
    set(CURLOPT_PROXY, proxy?.shown ?? "")
    set(CURLOPT_NOPROXY, "")
    guard let proxy else { return }
    // What a proxy answers to CONNECT is no answer of the server.
    _ = fetchres_curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // User and password, or nothing: 1 is CURLAUTH_BASIC, which is too much of a macro for Swift.
    _ = fetchres_curl_set_long(handle, CURLOPT_SOCKS5_AUTH, 1)
    _ = fetchres_curl_set_long(handle, CURLOPT_PROXYAUTH, 1)
    if let (user, password) = proxy.credentials(for: url) {
      set(CURLOPT_PROXYUSERNAME, user)
      set(CURLOPT_PROXYPASSWORD, password)
    }
    if let certificateFile {
      set(CURLOPT_PROXY_CAINFO, certificateFile)
      // Else the system's directory of certificates would be trusted too.
      _ = fetchres_curl_set_nothing(handle, CURLOPT_PROXY_CAPATH)
    }
  }
}
