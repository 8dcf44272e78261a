import Foundation

/// As much of JSON Schema as the schema of the events uses. An unknown keyword is an error, so that
/// nothing is passed over in silence.
struct EventSchema {
  private let root: [String: Any]

  struct Unknown: Error { let keyword: String }

  /// The one among the samples.
  init() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Samples/events.schema.json")
    try self.init(Data(contentsOf: file))
  }

  init(_ data: Data) throws {
    root = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
  }

  /// What is wrong with a line; nil if nothing is.
  func fault(_ line: some StringProtocol) throws -> String? {
    let value = try JSONSerialization.jsonObject(
      with: Data(line.utf8), options: [.fragmentsAllowed])
    return try fault(value, root, "line")
  }

  /// The members of the objects under `$defs` that are told by `event`.
  var definitions: [String: Any] { root["$defs"] as? [String: Any] ?? [:] }

  private func fault(_ value: Any, _ schema: [String: Any], _ place: String) throws -> String? {
    for (keyword, rule) in schema.sorted(by: { $0.key < $1.key }) {
      if let fault = try fault(value, keyword, rule, schema, place) { return fault }
    }
    return nil
  }

  private func fault(
    _ value: Any, _ keyword: String, _ rule: Any, _ schema: [String: Any], _ place: String
  ) throws -> String? {
    let object = value as? [String: Any]
    switch keyword {
    case "$schema", "$defs", "title", "description": return nil
    case "$ref":
      let name = (rule as? String ?? "").replacing("#/$defs/", with: "")
      guard let target = definitions[name] as? [String: Any] else { throw Unknown(keyword: name) }
      return try fault(value, target, place)
    case "type": return Self.kind(value) == rule as? String ? nil : "\(place) is no \(rule)"
    case "required":
      let missing = (rule as? [String] ?? []).first { object?[$0] == nil }
      return missing.map { "\(place) has no \($0)" }
    case "properties":
      for (name, rule) in rule as? [String: [String: Any]] ?? [:] {
        guard let member = object?[name] else { continue }
        if let fault = try fault(member, rule, "\(place).\(name)") { return fault }
      }
      return nil
    case "additionalProperties":
      let known = schema["properties"] as? [String: Any] ?? [:]
      let other = object?.keys.first { known[$0] == nil }
      return other.map { "\(place) has \($0), which nothing describes" }
    case "items":
      for (index, item) in (value as? [Any] ?? []).enumerated() {
        let fault = try fault(item, rule as? [String: Any] ?? [:], "\(place)[\(index)]")
        if let fault { return fault }
      }
      return nil
    case "oneOf":
      let faults = try (rule as? [[String: Any]] ?? []).map { try fault(value, $0, place) }
      let count = faults.count { $0 == nil }
      return count == 1
        ? nil : "\(place) is of \(count) kinds: \(faults.compactMap { $0 }.joined(separator: "; "))"
    case "enum":
      return (rule as? [String] ?? []).contains { $0 == value as? String }
        ? nil : "\(place) is none of the known words"
    case "const": return value as? String == rule as? String ? nil : "\(place) is not \(rule)"
    case "pattern":
      let text = value as? String ?? ""
      let matches = text.range(of: rule as? String ?? "", options: .regularExpression) != nil
      return matches ? nil : "\(place) is not like \(rule)"
    case "minimum":
      return (value as? NSNumber).map { $0.int64Value >= (rule as? NSNumber)?.int64Value ?? 0 }
        ?? false ? nil : "\(place) is less than \(rule)"
    case "maximum":
      return (value as? NSNumber).map { $0.int64Value <= (rule as? NSNumber)?.int64Value ?? 0 }
        ?? false ? nil : "\(place) is more than \(rule)"
    default: throw Unknown(keyword: keyword)
    }
  }

  private static func kind(_ value: Any) -> String {
    switch value {
    case is [String: Any]: "object"
    case is [Any]: "array"
    case is String: "string"
    case let number as NSNumber:
      String(cString: number.objCType) == "c"
        ? "boolean" : String(cString: number.objCType) == "d" ? "number" : "integer"
    default: "null"
    }
  }
}
