import CLibcurl
import Failure

/// An http or https URL, taken apart by libcurl's own parser so that what is checked is what is
/// fetched.
package struct WebURL: Sendable, Hashable {
  package let scheme: String
  /// Lower case; an IPv6 address stands in brackets.
  package let host: String
  package let port: Int
  /// Percent-encoded, beginning with a slash.
  package let path: String
  /// Without the question mark; nil if there is none. May hold secrets.
  package let query: String?
  /// `user` or `user:password` as written. A secret.
  package let userinfo: String?

  /// - Parameter base: what a relative reference is resolved against.
  /// - Throws: `usage`. A text that looks like a URL without a scheme is refused with a hint.
  package init(_ text: String, relativeTo base: WebURL? = nil) throws(FetchFailure) {
    func refusal(_ why: String) -> FetchFailure {
      FetchFailure(
        .usage, "'\(URLText.shown(text))' \(why)",
        hint: "give the URL of a manifest, such as https://example.com/world/manifest")
    }
    guard text.utf8.count <= 8_192, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw refusal("is no URL: spaces, control and other characters have to be percent-encoded")
    }
    guard let handle = curl_url() else { fatalError("Transport: out of memory") }
    defer { curl_url_cleanup(handle) }
    if let base { _ = curl_url_set(handle, CURLUPART_URL, base.text, 0) }
    guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else {
      throw refusal("is no URL")
    }
    func part(_ which: CURLUPart, _ flags: UInt32 = 0) -> String? {
      var value: UnsafeMutablePointer<CChar>?
      guard curl_url_get(handle, which, &value, flags) == CURLUE_OK, let value else { return nil }
      defer { curl_free(value) }
      return String(cString: value)
    }
    guard let scheme = part(CURLUPART_SCHEME), scheme == "http" || scheme == "https" else {
      throw refusal("is neither http nor https")
    }
    guard let host = part(CURLUPART_HOST), !host.isEmpty,
      let port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap(Int.init)
    else { throw refusal("names no host") }
    // An escape in a host is decoded by libcurl.
    guard host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw refusal("names a host outside ASCII: write it in its xn-- form")
    }
    // What is left of one, or was hidden by one, would name another host at the next reading.
    guard !host.contains("%"), Self.readsAsItself(host) else {
      throw refusal("names a host with a percent sign: write the host as it is")
    }
    guard port > 0 else { throw refusal("names port 0, on which nothing can listen") }
    self.scheme = scheme
    self.host = host.lowercased()
    self.port = port
    path = part(CURLUPART_PATH) ?? "/"
    query = part(CURLUPART_QUERY)
    let user = part(CURLUPART_USER)
    let password = part(CURLUPART_PASSWORD)
    userinfo = user.map { user in password.map { "\(user):\($0)" } ?? user }
  }

  /// A number, for one, is read as the address that it stands for.
  private static func readsAsItself(_ host: String) -> Bool {
    guard let handle = curl_url() else { fatalError("Transport: out of memory") }
    defer { curl_url_cleanup(handle) }
    var value: UnsafeMutablePointer<CChar>?
    guard curl_url_set(handle, CURLUPART_URL, "http://\(host)/", 0) == CURLUE_OK,
      curl_url_get(handle, CURLUPART_HOST, &value, 0) == CURLUE_OK, let value
    else { return false }
    defer { curl_free(value) }
    return String(cString: value) == host
  }

  private init(_ url: WebURL, path: String? = nil, userinfo: String?) {
    (scheme, host, port, query) = (url.scheme, url.host, url.port, url.query)
    self.path = path ?? url.path
    self.userinfo = userinfo
  }

  private var isDefaultPort: Bool { port == (scheme == "https" ? 443 : 80) }

  /// The host, with its port unless that is the usual one.
  var authority: String { isDefaultPort ? host : "\(host):\(port)" }

  /// The whole URL, secrets included: for libcurl alone.
  package var text: String {
    "\(scheme)://\(userinfo.map { $0 + "@" } ?? "")\(authority)\(path)"
      + (query.map { "?" + $0 } ?? "")
  }

  /// Scheme, host and port: all that may be said of a URL that a server gave.
  package var place: String { "\(scheme)://\(authority)" }

  /// The URL without userinfo and query, fit for messages and records.
  package var shown: String { "\(scheme)://\(authority)\(path)" }

  /// Whether both have the same scheme, host and port: what credentials belong to.
  package func hasSameOrigin(as other: WebURL) -> Bool {
    scheme == other.scheme && host == other.host && port == other.port
  }

  /// The URL of `suffix` (percent-encoded) below this base, whose path ends in a slash. Query and
  /// userinfo stay with it.
  package func appending(_ suffix: String) -> WebURL {
    WebURL(self, path: path + suffix, userinfo: userinfo)
  }

  /// This target of a redirect, with the password that belongs to it: that of the URL which led here,
  /// if both are of one origin, and else none.
  package func redirected(from url: WebURL) -> WebURL {
    WebURL(self, userinfo: hasSameOrigin(as: url) ? userinfo ?? url.userinfo : nil)
  }

  /// Scheme and host of a text that is a URL of some kind; nil if it is not.
  static func place(of text: String) -> String? {
    let words = URLText.shown(text)
    guard let mark = words.firstRange(of: "://") else { return nil }
    let host = words[mark.upperBound...].prefix { $0 != "/" }
    return "\(words[..<mark.upperBound])\(host)"
  }
}

/// Where a site is, out of the URL of its manifest as the user gave it.
package struct SiteURL: Sendable, Hashable {
  /// The manifest URL without its last component (and without `releases/<V>/` when pinned).
  package let base: WebURL
  /// The version that the URL pins, percent-decoded.
  package let pinnedVersion: String?

  package init(_ text: String) throws(FetchFailure) {
    let url = try WebURL(text)
    var components = url.path.split(separator: "/", omittingEmptySubsequences: false)
    // The last component is the manifest; a URL that ends in a slash means the manifest below it.
    components.removeLast()
    var pinned: String?
    if url.path.hasSuffix("/manifest"), components.count >= 3,
      components[components.count - 2] == "releases",
      let version = Self.decoded(components[components.count - 1]), !version.isEmpty
    {
      pinned = version
      components.removeLast(2)
    }
    pinnedVersion = pinned
    base = url.replacing(path: components.joined(separator: "/") + "/")
    manifestName =
      url.path.hasSuffix("/") || pinned != nil
      ? "manifest" : String(url.path.split(separator: "/").last ?? "manifest")
  }

  /// The last component of the URL, percent-encoded.
  package let manifestName: String

  private static func decoded(_ component: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Substring(component).utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(Substring(rest.prefix(2))).lowercased()
      guard digits.utf8.count == 2, let value = Hex.decode(digits)?.first else { return nil }
      rest = rest.dropFirst(2)
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension WebURL {
  fileprivate func replacing(path: String) -> WebURL {
    WebURL(self, path: path, userinfo: userinfo)
  }
}
