import Failure
import FetchResKit
import Synchronization
import System

/// What is said to people: on standard error, one sentence a line.
enum Talk {
  /// A secret key that was given in the place of something else is not said again.
  static func masked(_ text: String) -> String {
    var (shown, rest) = ("", text[...])
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

/// One line of JSON, its members in the order given.
struct JSONLine {
  private var members: [String] = []

  init(_ event: String) { add("event", event) }

  init() {}

  mutating func add(_ name: String, _ value: String?) {
    if let value { members.append("\(Self.quoted(name)):\(Self.quoted(value))") }
  }

  mutating func add(_ name: String, _ value: Int64?) {
    if let value { members.append("\(Self.quoted(name)):\(value)") }
  }

  mutating func add(_ name: String, _ value: Bool) {
    members.append("\(Self.quoted(name)):\(value)")
  }

  mutating func add(_ name: String, _ values: [String]) {
    members.append(
      "\(Self.quoted(name)):[\(values.map { Self.quoted($0) }.joined(separator: ","))]")
  }

  mutating func add(_ name: String, _ values: [JSONLine]) {
    members.append("\(Self.quoted(name)):[\(values.map(\.text).joined(separator: ","))]")
  }

  mutating func add(_ failure: FetchFailure) {
    add("category", failure.category.rawValue)
    add("message", Talk.masked(failure.message))
    add("hint", failure.hint.map { Talk.masked($0) })
    add("source", failure.source)
    add("block", failure.block)
    add("httpStatus", failure.httpStatus.map(Int64.init))
  }

  mutating func add(_ source: FetchEvent.Source) {
    add("url", source.url)
    add("bytes", source.bytes)
    add(
      "refusals",
      source.refusals.sorted { $0.key.rawValue < $1.key.rawValue }.map { category, count in
        var refusal = JSONLine()
        refusal.add("category", category.rawValue)
        refusal.add("count", Int64(count))
        return refusal
      })
  }

  var text: String { "{\(members.joined(separator: ","))}" }

  /// What cannot be written to standard output ends the run: see ``Output``.
  func print() { Output.write(text + "\n") }

  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case _ where scalar.properties.generalCategory == .control:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
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
