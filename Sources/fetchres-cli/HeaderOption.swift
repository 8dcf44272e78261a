import Failure

/// `--header`: lines of the user for the manifest's own server.
enum HeaderOption {
  /// What the transfer itself says: another value would make it ask for something else than it checks.
  private static let owned = [
    "range", "content-length", "host", "accept-encoding", "transfer-encoding",
  ]

  /// - Throws: `usage`. A header is never quoted: it may hold a secret.
  static func lines(_ arguments: ParsedArguments) throws(FetchFailure) -> [String] {
    var lines: [String] = []
    for given in arguments.all("--header") {
      let headers = try FileArgument.texts(given, "--header")
      for header in headers { try check(header) }
      if arguments.isTyped("--header"), !given.hasPrefix("@"), headers.contains(where: isSecret) {
        Talk.warning("a secret on the command line can be seen by others; --header @FILE reads it")
      }
      lines += headers
    }
    return lines
  }

  private static func name(_ header: String) -> String {
    header.prefix { $0 != ":" }.lowercased()
  }

  private static func check(_ header: String) throws(FetchFailure) {
    let name = name(header)
    guard header.contains(":"), isToken(name),
      header.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw FetchFailure(.usage, "--header takes 'Name: value'") }
    guard !owned.contains(name) else {
      throw FetchFailure(
        .usage, "--header takes no '\(name)': the transfer itself sends it",
        hint: "leave that header out")
    }
  }

  /// A token of RFC 9110, section 5.6.2.
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  private static func isSecret(_ header: String) -> Bool {
    let name = name(header)
    return ["authorization", "cookie", "proxy-authorization"].contains(name)
      || name.contains("token") || name.contains("key") || name.contains("secret")
  }
}
