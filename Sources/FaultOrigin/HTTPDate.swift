import Failure

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 section 5.6.7).
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// - Parameter seconds: since 1970, within the years 1 to 9999.
  static func text(_ seconds: Int64) -> String {
    // `YYYY-MM-DDThh:mm:ssZ`
    let text = Array(UTCDate(seconds: seconds).text.utf8)
    func part(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    // The first of January 1970 was a Thursday.
    let weekday = Int(((day + 4) % 7 + 7) % 7)
    let month = Int(part(5..<7)).map { $0 - 1 } ?? 0
    return "\(days[weekday]), \(part(8..<10)) \(months[month]) \(part(0..<4)) \(part(11..<19)) GMT"
  }

  /// The seconds since 1970 behind `text`; nil unless it is exactly what ``text(_:)`` makes. The two
  /// obsolete forms are not read: a condition that holds one is ignored.
  static func seconds(_ text: String) -> Int64? {
    let words = text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    guard words.count == 6, let month = months.firstIndex(of: words[2]) else { return nil }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    guard let date = UTCDate("\(words[3])-\(number)-\(words[1])T\(words[4])Z"),
      Self.text(date.seconds) == text
    else { return nil }
    return date.seconds
  }
}
