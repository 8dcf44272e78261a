import Glibc

/// An address and a port to listen on or to connect to: IPv4 or IPv6, numbers only.
package struct SocketAddress: Sendable, Equatable {
  /// The address as text, without brackets.
  package let host: String
  package let port: UInt16
  let family: Family

  enum Family: Sendable, Equatable {
    case ipv4
    case ipv6
  }

  /// Parses `ADDR:PORT` or `[ADDR]:PORT`. Nil unless ADDR is a dotted IPv4 address or, in brackets,
  /// an IPv6 address without a zone, and PORT is 0 to 65535 without a leading zero.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let digits = bytes[(colon + 1)...]
    guard (1...5).contains(digits.count),
      digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      digits.count == 1 || digits.first != UInt8(ascii: "0"),
      let port = UInt16(String(decoding: digits, as: UTF8.self))
    else { return nil }
    var address = bytes[..<colon]
    let isBracketed = address.first == UInt8(ascii: "[") && address.last == UInt8(ascii: "]")
    if isBracketed { address = address.dropFirst().dropLast() }
    guard !address.contains(0) else { return nil }
    let host = String(decoding: address, as: UTF8.self)
    let family: Family = isBracketed ? .ipv6 : .ipv4
    guard Self.isNumeric(host, family) else { return nil }
    (self.host, self.port, self.family) = (host, port, family)
  }

  /// `ADDR:PORT`, IPv6 in brackets, as in a URL.
  package var text: String {
    switch family {
    case .ipv4: "\(host):\(port)"
    case .ipv6: "[\(host)]:\(port)"
    }
  }

  /// Whether this stands for every address of the machine.
  package var isWildcard: Bool { host == "0.0.0.0" || host == "::" }

  /// The same port on the loopback address of the same family.
  package var onLoopback: SocketAddress {
    SocketAddress(host: family == .ipv4 ? "127.0.0.1" : "::1", port: port, family: family)
  }

  /// The same address with a port that the system picks.
  package var anyPort: SocketAddress { SocketAddress(host: host, port: 0, family: family) }

  private init(host: String, port: UInt16, family: Family) {
    (self.host, self.port, self.family) = (host, port, family)
  }

  // MARK: The system's form

  var systemFamily: Int32 {
    switch family {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    }
  }

  /// Lends the address as the system wants it.
  func withSystemAddress<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    switch family {
    case .ipv4:
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      inet_pton(AF_INET, host, &address.sin_addr)
      return Self.lend(&address, body)
    case .ipv6:
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      inet_pton(AF_INET6, host, &address.sin6_addr)
      return Self.lend(&address, body)
    }
  }

  /// What the system says that a socket is bound to; nil for another family.
  init?(_ storage: sockaddr_storage) {
    var storage = storage
    var text = [UInt8](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let found: (Family, UInt16)? = withUnsafePointer(to: &storage) { pointer in
      text.withUnsafeMutableBytes { text in
        let text = text.bindMemory(to: CChar.self)
        let size = socklen_t(text.count)
        switch Int32(pointer.pointee.ss_family) {
        case AF_INET:
          return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
            var number = address.pointee.sin_addr
            inet_ntop(AF_INET, &number, text.baseAddress, size)
            return (.ipv4, UInt16(bigEndian: address.pointee.sin_port))
          }
        case AF_INET6:
          return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
            var number = address.pointee.sin6_addr
            inet_ntop(AF_INET6, &number, text.baseAddress, size)
            return (.ipv6, UInt16(bigEndian: address.pointee.sin6_port))
          }
        default: return nil
        }
      }
    }
    guard let (family, port) = found else { return nil }
    let host = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    (self.host, self.port, self.family) = (host, port, family)
  }

  private static func isNumeric(_ host: String, _ family: Family) -> Bool {
    switch family {
    case .ipv4:
      var address = in_addr()
      return inet_pton(AF_INET, host, &address) == 1
    case .ipv6:
      var address = in6_addr()
      return inet_pton(AF_INET6, host, &address) == 1
    }
  }

  private static func lend<Address, Result>(
    _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }
}
