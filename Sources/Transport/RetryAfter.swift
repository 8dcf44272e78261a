import Failure

/// The value of a Retry-After field (RFC 9110 section 10.2.3): seconds, or a date in one of the three
/// forms of HTTP (section 5.6.7). Strict: anything else is ignored.
enum RetryAfter {
  /// The seconds to wait from the answer on, within 0 and ``Exchange/longestRetryAfter``; nil for what
  /// is no such value. Dates that are past and numbers beyond all numbers are clamped.
  ///
  /// - Parameters:
  ///   - date: the Date field of the same answer: what the server's clock says, so that ours does not
  ///     matter.
  ///   - now: what counts without one, in seconds since 1970.
  static func seconds(_ text: String, date: String?, now: Int64) -> Double? {
    if isDigits(text) {
      return min(Double(text) ?? .infinity, Exchange.longestRetryAfter)
    }
    let start = date.flatMap { self.date($0, now: now) } ?? now
    guard let end = self.date(text, now: start) else { return nil }
    return min(max(0, Double(end - start)), Exchange.longestRetryAfter)
  }

  private static func isDigits(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  // MARK: Dates

  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let longDays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The seconds since 1970 of a date in any of the three forms, whose day of the week is right.
  ///
  /// - Parameter now: a year of two digits is the one that is at most 50 years after it.
  static func date(_ text: String, now: Int64) -> Int64? {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    switch words.count {
    // Sun, 06 Nov 1994 08:49:37 GMT
    case 6 where words[5] == "GMT" && words[0].hasSuffix(","):
      return instant(
        String(words[0].dropLast()), of: days, year: words[3], month: words[2], day: words[1],
        time: words[4])
    // Sunday, 06-Nov-94 08:49:37 GMT
    case 4 where words[3] == "GMT" && words[0].hasSuffix(","):
      let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 3, parts[2].utf8.count == 2, isDigits(parts[2]),
        let short = Int64(parts[2]), let thisYear = Int64(UTCDate(seconds: now).text.prefix(4))
      else { return nil }
      var year = thisYear - thisYear % 100 + short
      if year > thisYear + 50 { year -= 100 }
      return instant(
        String(words[0].dropLast()), of: longDays, year: "\(year)", month: String(parts[1]),
        day: String(parts[0]), time: words[2])
    // Sun Nov  6 08:49:37 1994, where a day of one digit stands behind two spaces
    case 6 where words[2].isEmpty && words[3].utf8.count == 1:
      return instant(
        words[0], of: days, year: words[5], month: words[1], day: "0" + words[3], time: words[4])
    case 5:
      return instant(
        words[0], of: days, year: words[4], month: words[1], day: words[2], time: words[3])
    default: return nil
    }
  }

  private static func instant(
    _ name: String, of names: [String], year: String, month: String, day: String, time: String
  ) -> Int64? {
    guard let number = months.firstIndex(of: month), let weekday = names.firstIndex(of: name)
    else { return nil }
    let text = "\(year)-\(number < 9 ? "0" : "")\(number + 1)-\(day)T\(time)Z"
    guard let date = UTCDate(text) else { return nil }
    let days = Int((Double(date.seconds) / 86_400).rounded(.down))
    // The first of January 1970 was a Thursday.
    guard ((days + 4) % 7 + 7) % 7 == weekday else { return nil }
    return date.seconds
  }
}
