/// A text that is, or should have been, a URL.
package enum URLText {
  /// The text without anything that may be a secret: what stands before an at sign, even behind a
  /// slash, and what stands behind a question or number sign.
  package static func shown(_ text: String) -> String {
    var scheme = text[..<text.startIndex]
    if let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
      text[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    {
      scheme = text[..<text.index(colon, offsetBy: 3)]
    }
    let rest = text[scheme.endIndex...]
    let place = rest.prefix { $0 != "?" && $0 != "#" }
    // A password with a question mark, or a query with an at sign: there is no telling.
    guard !rest[place.endIndex...].contains("@") else { return "\(scheme)…" }
    let open = place.lastIndex(of: "@").map { place[place.index(after: $0)...] } ?? place
    return "\(scheme)\(open.shortened(to: 200))"
  }
}
