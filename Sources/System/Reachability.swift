import Glibc

/// What this machine can tell about its way to a host, without sending the host anything.
package enum Reachability {
  /// Whether the fault is on our side: the resolver gives no answer, or there is no route to any
  /// address of the host. Blocks for as long as the resolver takes.
  ///
  /// - Parameter host: a name, or an address without brackets.
  package static func isCutOff(from host: String) -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    // The port is that of the discard service: nothing is sent there either.
    let result = getaddrinfo(host, "9", &hints, &list)
    guard result == 0 else { return result == EAI_AGAIN }
    defer { freeaddrinfo(list) }
    var next = list
    while let address = next {
      if hasRoute(address.pointee) { return false }
      next = address.pointee.ai_next
    }
    return true
  }

  /// Connecting a datagram socket looks the route up, and no more.
  private static func hasRoute(_ address: addrinfo) -> Bool {
    let number = socket(
      address.ai_family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return false }
    let socket = Descriptor(owning: number)
    return connect(socket.number, address.ai_addr, address.ai_addrlen) == 0
  }
}

extension SystemError {
  /// What the system says when it knows no way to an address.
  package static let noRoute: Set<Int32> = [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL]
}
