import Failure

/// Which way out requests take. With a proxy there is no other way: what it does not let through fails.
package struct ProxyChoice: Sendable, Equatable {
  /// For https, and for http; nil for none.
  package var secure: ProxyServer?
  package var plain: ProxyServer?
  /// Hosts that are asked without a proxy.
  package var exceptions = ProxyExceptions()

  /// No proxy at all.
  package init() {}

  /// One proxy for everything.
  package init(_ server: ProxyServer) { (secure, plain) = (server, server) }

  package init(secure: ProxyServer?, plain: ProxyServer?, exceptions: ProxyExceptions) {
    (self.secure, self.plain, self.exceptions) = (secure, plain, exceptions)
  }

  package func server(for url: WebURL) -> ProxyServer? {
    guard !exceptions.contains(url) else { return nil }
    return url.scheme == "https" ? secure : plain
  }

  /// - Throws: `proxy-unreachable` for a name that a proxy cannot be given; `unreachable` for one that
  ///   only Tor can resolve.
  func check(_ url: WebURL) throws(FetchFailure) {
    let server = server(for: url)
    let name = url.host.hasSuffix(".") ? url.host.dropLast() : url.host[...]
    guard !name.hasSuffix(".onion") || server?.isolation != nil else {
      throw FetchFailure(
        .unreachable, "only Tor reaches an .onion address", hint: "run again with --tor")
    }
    guard server == nil || url.host.utf8.count <= ProxyServer.maximumByteCount else {
      throw FetchFailure(
        .proxyUnreachable, "the name of the host is longer than the 255 bytes a proxy can be given")
    }
  }
}

/// The hosts of a `NO_PROXY` variable: names between commas or spaces, each with what is below it, with
/// or without a dot in front; addresses as they are written; a port after a colon, if it is meant; `*`
/// for all. What is not understood excepts nothing.
package struct ProxyExceptions: Sendable, Equatable {
  private var entries: [String]

  package init(_ text: String = "") {
    entries = text.split { $0 == "," || $0.isWhitespace }.map { $0.lowercased() }
  }

  package func contains(_ url: WebURL) -> Bool {
    var host = url.host[...]
    if host.hasPrefix("[") { host = host.dropFirst().dropLast() }
    if host.hasSuffix(".") { host = host.dropLast() }
    // What ends in the digits of an address is another address.
    let isName = host.contains { !"0123456789.:".contains($0) } && !host.contains(":")
    let port = ":\(url.port)"
    return entries.contains { entry in
      if entry == "*" { return true }
      var name = entry[...]
      if name.hasSuffix(port), name.hasPrefix("[") || name.count(where: { $0 == ":" }) == 1 {
        name = name.dropLast(port.utf8.count)
      }
      if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
      if name.hasPrefix("*.") { name = name.dropFirst() }
      while name.hasPrefix(".") { name = name.dropFirst() }
      guard !name.isEmpty else { return false }
      return host == name || isName && host.hasSuffix("." + name)
    }
  }
}
