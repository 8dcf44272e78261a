import Failure

/// The rules for a `mirror` line.
public enum Mirror {
  /// Whether `url` is http or https, a lower-case host, an optional port 1 to 65535 and a path that
  /// ends in `/`: at most 1,024 bytes of visible ASCII without userinfo, query, fragment or dot
  /// segment.
  public static func isValid(_ url: some StringProtocol) -> Bool {
    let bytes = Array(url.utf8)
    guard bytes.count <= 1_024, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return false
    }
    let text = String(url)
    let rest: Substring
    if text.hasPrefix("https://") {
      rest = text.dropFirst(8)
    } else if text.hasPrefix("http://") {
      rest = text.dropFirst(7)
    } else {
      return false
    }
    guard let slash = rest.firstIndex(of: "/") else { return false }
    let (authority, path) = (rest[..<slash], rest[slash...])
    guard path.hasSuffix("/"), !path.contains("?"), !path.contains("#"), !path.contains("\\") else {
      return false
    }
    for segment in path.split(separator: "/") {
      let dots = segment.lowercased().split(separator: "%2e", omittingEmptySubsequences: false)
        .joined(separator: ".")
      guard dots != ".", dots != ".." else { return false }
    }
    return isAuthority(authority)
  }

  private static func isAuthority(_ authority: Substring) -> Bool {
    var host = authority
    var port: Substring?
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return false }
      host = authority[authority.index(after: authority.startIndex)..<end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return false }
      port = rest.isEmpty ? nil : rest.dropFirst()
      guard host.contains(":"), host.utf8.allSatisfy({ "0123456789abcdef:.".utf8.contains($0) })
      else { return false }
    } else {
      if let colon = authority.firstIndex(of: ":") {
        host = authority[..<colon]
        port = authority[authority.index(after: colon)...]
      }
      let allowed = "abcdefghijklmnopqrstuvwxyz0123456789-._".utf8
      guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy({ allowed.contains($0) })
      else { return false }
    }
    guard let port else { return true }
    return Decimal.decode(port).map { (1...65_535).contains($0) } == true
  }
}
