import Failure
import FetchResKit
import Synchronization
import System

/// What is said to people: on standard error, one sentence a line.
enum Talk {
  /// A secret key that was given in the place of something else is not said again, nor what is secret
  /// of a URL.
  static func masked(_ text: String) -> String {
    var (shown, rest) = ("", HiddenArguments.masked(text)[...])
    while let key = rest.firstRange(of: "PRIVATE+KEY+") {
      shown += rest[..<key.lowerBound] + "(a secret key)"
      rest = rest[key.upperBound...].drop { !$0.isWhitespace && $0 != "'" }
    }
    return shown + rest
  }

  static func error(_ failure: FetchFailure) {
    let source = failure.source.map { " (\($0))" } ?? ""
    line("error: \(failure.message)\(source)")
    if let hint = failure.hint { line("hint: \(hint)") }
  }

  static func warning(_ message: String) { line("warning: \(message)") }

  static func note(_ message: String) { line(message) }

  static func line(_ text: String) {
    try? Terminal.standardError.write("fetchres: \(clean(text))\n")
  }

  /// Text may quote a server or a certificate: control characters would speak to the terminal, and
  /// others turn the line round or break it.
  static func clean(_ text: String) -> String {
    let text = masked(text)
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: "?"
          default: scalar
          }
        }))
  }
}

/// Standard output: the result, and nothing else.
enum Output {
  private static let failed = Atomic(false)

  /// Writes it; a failure is kept, and makes the exit status that of a failure.
  static func write(_ text: String) {
    do throws(SystemError) { try Terminal.standardOutput.write(text) } catch {
      // A reader that went away has seen enough.
      guard !failed.exchange(true, ordering: .relaxed), !error.isBrokenPipe else { return }
      Talk.error(error.failure("cannot write to standard output"))
    }
  }

  static func line(_ text: some CustomStringConvertible) { write("\(text)\n") }

  /// The status to exit with: a result that nobody could read is none.
  static func status(_ status: Int32) -> Int32 {
    status == 0 && failed.load(ordering: .relaxed) ? FailureCategory.ioError.exitCode() : status
  }
}
