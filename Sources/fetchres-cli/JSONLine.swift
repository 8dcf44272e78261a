import Failure
import FetchResKit

/// One line of JSON, its members in the order given.
struct JSONLine {
  private var members: [String] = []

  /// An event: what it is, milliseconds since the start of the program on a clock that only moves
  /// forward, the run that it belongs to, and its number in that.
  init(_ event: String) {
    add("event", event)
    let stamp = EventStamp.next()
    add("ms", stamp.milliseconds)
    add("run", EventStamp.run)
    add("id", stamp.number)
  }

  /// A part of an event.
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
