import Failure

/// A header line that a user adds to requests.
package enum HeaderLine {
  /// What the transfer itself says: another value would make it ask for something else than it checks.
  private static let owned = [
    "range", "content-length", "host", "accept-encoding", "transfer-encoding",
  ]

  /// In lower case.
  package static func name(_ header: String) -> String {
    header.prefix { $0 != ":" }.lowercased()
  }

  /// - Throws: `usage`. A header is never quoted: it may hold a secret.
  package static func check(_ header: String) throws(FetchFailure) {
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
}
