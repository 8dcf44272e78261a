import System

extension WebURL {
  /// Whether the host is, as written, this machine or one in a private network. A name is not
  /// resolved: only the names of this machine itself count.
  package var isPrivate: Bool {
    if let address = SocketAddress("\(host):\(port)") { return address.isPrivate }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    return name == "localhost" || name.hasSuffix(".localhost")
  }
}
