import Failure
import FetchResKit
import System

/// `--header`: lines of the user for the manifest's own server.
enum HeaderOption {
  /// - Throws: `usage`. A header is never quoted: it may hold a secret.
  static func lines(_ arguments: ParsedArguments) throws(FetchFailure) -> [String] {
    var lines: [String] = []
    if arguments.has("--header") { ThisProcess.forbidCoreDumps() }
    for given in arguments.all("--header") {
      let headers = try FileArgument.texts(given, "--header")
      for header in headers { try HeaderLine.check(header) }
      if arguments.isTyped("--header"), !given.hasPrefix("@"), headers.contains(where: isSecret) {
        Talk.warning("a secret on the command line can be seen by others; --header @FILE reads it")
      }
      lines += headers
    }
    return lines
  }

  /// What names of headers have in them that hold a secret.
  private static let words = [
    "auth", "token", "key", "secret", "pass", "cookie", "credential", "session", "signature",
  ]

  private static func isSecret(_ header: String) -> Bool {
    let name = HeaderLine.name(header)
    return words.contains { name.contains($0) }
  }
}
