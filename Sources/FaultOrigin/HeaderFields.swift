/// Header fields in their order; names compare without regard to case (RFC 9110 section 5.1).
package struct HeaderFields: Sendable, Equatable {
  package struct Field: Sendable, Equatable {
    package var name: String
    package var value: String
  }

  package private(set) var all: [Field] = []

  package init() {}

  package mutating func append(_ name: String, _ value: String) {
    all.append(Field(name: name, value: value))
  }

  /// The values of every field of this name, in their order.
  package func values(_ name: String) -> [String] {
    let name = name.lowercased()
    return all.filter { $0.name.lowercased() == name }.map(\.value)
  }

  /// The value of a field that may be there once; nil if it is not there, or several times.
  package func single(_ name: String) -> String? {
    let values = values(name)
    return values.count == 1 ? values[0] : nil
  }

  /// The members of a comma-separated list, over all fields of this name (RFC 9110 section 5.6.1).
  /// A comma within quotes separates as well.
  package func list(_ name: String) -> [String] {
    values(name).flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
      .map { String(Substring($0)).trimmingBlanks() }
      .filter { !$0.isEmpty }
  }
}

extension String {
  /// Without the spaces and tabs around it (OWS, RFC 9110 section 5.6.3).
  func trimmingBlanks() -> String {
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let bytes = utf8.drop(while: isBlank)
    let count = bytes.reversed().drop(while: isBlank).count
    return String(Substring(bytes.prefix(count)))
  }
}
