import Failure
import System

/// Secrets that were given on the command line, which everybody on the machine can list: blanked there
/// as soon as they are read. They were visible until then, so a file is better.
enum HiddenArguments {
  /// The URLs among them that hold a secret.
  private static let urls = Monitor<[String]>([])

  static func hide(_ words: [String]) {
    urls.look { $0 = words.map(value).filter(isSecretURL) }
    let secrets = secrets(in: words)
    if !secrets.isEmpty { ThisProcess.forbidCoreDumps() }
    for secret in secrets { ThisProcess.hideInArguments(secret) }
  }

  /// Whether a text is a URL with a password or a query.
  static func isSecretURL(_ text: String) -> Bool {
    guard let scheme = text.firstRange(of: "://") else { return false }
    return secrets(inURL: text[scheme.upperBound...]).contains { !$0.isEmpty }
  }

  /// The text without the secrets of the URLs that were given: whatever was expected in their place, a
  /// refusal quotes it.
  static func masked(_ text: String) -> String {
    urls.look { $0 }.reduce(text) { $0.replacing($1, with: URLText.shown($1)) }
  }

  /// The value of an option that is written with an equals sign; any other word as it is.
  private static func value(_ word: String) -> String {
    guard word.hasPrefix("--"), let sign = word.firstIndex(of: "=") else { return word }
    return String(word[word.index(after: sign)...])
  }

  /// What of the words is a secret, or may be one.
  static func secrets(in words: [String]) -> [String] {
    var found: [String] = []
    for (index, word) in words.enumerated() {
      func isValue(of option: String) -> Bool {
        index > 0 && words[index - 1] == option || word.hasPrefix("\(option)=")
      }
      if isValue(of: "--header"), let colon = word.firstIndex(of: ":") {
        found.append(String(word[word.index(after: colon)...]))
      } else if let key = word.firstRange(of: "PRIVATE+KEY+") {
        found.append(String(word[key.upperBound...]))
      } else if let scheme = word.firstRange(of: "://") {
        found += secrets(inURL: word[scheme.upperBound...])
      } else if isValue(of: "--proxy") {
        // A proxy may be written without a scheme.
        found += secrets(inURL: Substring(value(word)))
      }
    }
    return found.filter { !$0.isEmpty }
  }

  /// Userinfo, and all from a question or number sign on.
  private static func secrets(inURL rest: Substring) -> [String] {
    let place = rest.prefix { $0 != "?" && $0 != "#" }
    // As when it is shown: a password may hold a question mark, and a query an at sign.
    if rest[place.endIndex...].contains("@") { return [String(rest)] }
    let userinfo = place.lastIndex(of: "@").map { String(place[..<$0]) }
    return [userinfo, String(rest[place.endIndex...].dropFirst())].compactMap { $0 }
  }
}
