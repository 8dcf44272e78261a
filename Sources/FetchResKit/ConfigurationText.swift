import Failure
import SignedNote

/// The lines of a configuration file, before anyone asks what they mean: `key value`, or a key alone,
/// first those for all origins, then under `[origin NAME]` those for one. Lines that are empty or
/// begin with `#` say nothing.
package struct ConfigurationText: Sendable {
  package struct Line: Sendable, Equatable {
    package var key: String
    /// Without the white space around it; nil where a key stands alone.
    package var value: String?
    /// `path:number`.
    package var place: String
  }

  package static let maximumByteCount = 65_536

  package private(set) var common: [Line] = []
  package private(set) var sections: [(origin: Origin, lines: [Line])] = []

  /// - Throws: `usage`, naming the line.
  package init(_ bytes: [UInt8], path: String) throws(FetchFailure) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FetchFailure(.usage, "the configuration \(path) is no UTF-8 text")
    }
    // A carriage return and a line feed are one character.
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let place = "\(path):\(index + 1)"
      let words = Self.words(line)
      guard let key = words.first, !key.hasPrefix("#") else { continue }
      if key.hasPrefix("[") {
        sections.append((try Self.origin(line, place), []))
        continue
      }
      let line = Line(key: key, value: words.count == 2 ? words[1] : nil, place: place)
      if sections.isEmpty {
        common.append(line)
      } else {
        sections[sections.count - 1].lines.append(line)
      }
    }
  }

  /// The first word and the rest, without the white space around them.
  private static func words(_ line: Substring) -> [String] {
    let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    return parts.map { part in
      var part = part
      while part.first?.isWhitespace == true { part.removeFirst() }
      while part.last?.isWhitespace == true { part.removeLast() }
      return String(part)
    }.filter { !$0.isEmpty }
  }

  private static func origin(_ line: Substring, _ place: String) throws(FetchFailure) -> Origin {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "[origin", words[1].last == "]",
      let origin = Origin(words[1].dropLast())
    else {
      throw FetchFailure(
        .usage, "'\(line.shortened(to: 100))' is no section (\(place))",
        hint: "a section is written [origin NAME]")
    }
    return origin
  }
}
