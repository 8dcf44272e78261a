/// A value of JSON, its members in the order given (RFC 8259).
package indirect enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Int64)
  case text(String)
  case list([JSON])
  case members([Member])

  package struct Member: Sendable, Equatable {
    package var name: String
    package var value: JSON
  }

  package static func object(_ members: [(String, JSON)]) -> JSON {
    .members(members.map { Member(name: $0.0, value: $0.1) })
  }

  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let value): String(value)
    case .text(let text): Self.quoted(text)
    case .list(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .members(let members):
      "{"
        + members.map { "\(Self.quoted($0.name)):\($0.value.text)" }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
