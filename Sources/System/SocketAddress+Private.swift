import Glibc

extension SocketAddress {
  /// Whether the address is of this machine or of a network that is not everybody's: loopback,
  /// unspecified, link-local, private (RFC 1918, RFC 4193), shared (RFC 6598).
  package var isPrivate: Bool {
    switch family {
    case .ipv4:
      var address = in_addr()
      inet_pton(AF_INET, host, &address)
      return Self.isPrivate(withUnsafeBytes(of: address) { Array($0) }[...])
    case .ipv6:
      var address = in6_addr()
      inet_pton(AF_INET6, host, &address)
      let bytes = withUnsafeBytes(of: address) { Array($0) }
      // An IPv4 address inside, as it is or translated.
      let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
      let translated: [UInt8] = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]
      if bytes.starts(with: mapped) || bytes.starts(with: translated) {
        return Self.isPrivate(bytes[12...])
      }
      // ::, ::1 and the old compatible form, link-local, site-local, unique local.
      return bytes[..<12].allSatisfy { $0 == 0 } || bytes[0] == 0xfe && bytes[1] & 0x80 != 0
        || bytes[0] & 0xfe == 0xfc
    }
  }

  private static func isPrivate(_ ipv4: ArraySlice<UInt8>) -> Bool {
    let (first, second) = (ipv4[ipv4.startIndex], ipv4[ipv4.startIndex + 1])
    return switch (first, second) {
    case (0, _), (10, _), (127, _): true
    case (100, 64...127): true
    case (169, 254): true
    case (172, 16...31): true
    case (192, 168): true
    case (_, _): false
    }
  }
}
