import Failure
import SignedNote

@testable import FetchResKit

extension FuzzTarget {
  /// Lines of a configuration that are read stand in the file where they say, in their order, and what
  /// stands in front of them changes nothing but their numbers.
  static let configuration = FuzzTarget("configuration") { bytes in
    guard let read = try? ConfigurationText(bytes, path: "config") else { return }
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    var last = 0
    for line in read.common + read.sections.flatMap(\.lines) {
      let number = Int(line.place.dropFirst("config:".count)) ?? 0
      expect(number > last && number <= lines.count, "the place \(line.place)")
      last = number
      let there = lines[number - 1]
      expect(there.contains(line.key) && !line.key.isEmpty, "the key \(line.key)")
      expect(!line.key.contains(where: \.isWhitespace), "white space in the key \(line.key)")
      expect(!line.key.hasPrefix("#") && !line.key.hasPrefix("["), "the key \(line.key)")
      guard let value = line.value else { continue }
      expect(there.contains(value) && !value.isEmpty, "the value \(value)")
      expect(value.first?.isWhitespace == false && value.last?.isWhitespace == false, value)
    }
    let more = try? ConfigurationText(Array("# more\n\n".utf8) + bytes, path: "config")
    expect(more?.common.map(\.key) == read.common.map(\.key), "another reading")
    expect(more?.sections.map(\.origin) == read.sections.map(\.origin), "other sections")
  }
}
