import Failure
import Testing

/// A calendar that counts on from one month to the next.
private struct CountedMonth {
  var (year, month) = (1, 1)
  /// The first day in days since 1970-01-01.
  var firstDay: Int64 = -719_162

  var length: Int { Self.length(month: month, year: year) }

  static func length(month: Int, year: Int) -> Int {
    let isLeap = year.isMultiple(of: 400) || year.isMultiple(of: 4) && !year.isMultiple(of: 100)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  mutating func advance() {
    firstDay += Int64(length)
    month += 1
    guard month > 12 else { return }
    (year, month) = (year + 1, 1)
  }
}

private func pad(_ value: Int, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: width - digits.count) + digits
}

@Suite struct UTCDateTests {
  /// Every day of the years about which something is special; of the others the ends of February
  /// and December.
  @Test func `days from 0001 to 9999 are those that counting gives`() {
    let special: Set = [1, 4, 100, 400, 1900, 1969, 1970, 2000, 2024, 2026, 2100, 9999]
    var (month, checked) = (CountedMonth(), 0)
    while month.year <= 9_999 {
      let days =
        special.contains(month.year)
        ? Array(1...month.length) : [2, 12].contains(month.month) ? [month.length] : []
      for day in days {
        let second = (month.year * 7_919 + day * 3_571) % 86_400
        let clock =
          "\(pad(second / 3_600, 2)):\(pad(second / 60 % 60, 2)):\(pad(second % 60, 2))"
        let text = "\(pad(month.year, 4))-\(pad(month.month, 2))-\(pad(day, 2))T\(clock)Z"
        let date = UTCDate(seconds: (month.firstDay + Int64(day) - 1) * 86_400 + Int64(second))
        checked += 1
        if date.text != text || UTCDate(text) != date {
          Issue.record("\(date.seconds) is \(text), not \(date.text)")
          return
        }
      }
      month.advance()
    }
    #expect(month.firstDay == 2_932_897, "9999-12-31 is day 2,932,896")
    #expect(checked > 24_000)
  }

  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1),
      ("2000-02-29T12:00:00Z", 951_825_600),
      ("2026-11-30T05:34:40Z", 1_796_016_880), ("2038-01-19T03:14:08Z", 2_147_483_648),
      ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
    ] as [(String, Int64)])
  func `known instants come out`(text: String, seconds: Int64) {
    #expect(UTCDate(text)?.seconds == seconds)
    #expect(UTCDate(seconds: seconds).text == text)
  }

  @Test func `the seconds of a day round-trip`() {
    for second in stride(from: Int64(0), to: 86_400, by: 17) {
      let date = UTCDate(seconds: 1_796_000_000 / 86_400 * 86_400 + second)
      if UTCDate(date.text) != date { Issue.record("\(date.text)") }
    }
  }

  @Test func `days that a month has not are refused`() {
    for year in [1, 1900, 2000, 2023, 2024, 2100, 9999] {
      for month in 0...13 {
        let length = (1...12).contains(month) ? CountedMonth.length(month: month, year: year) : 0
        for day in 0...32 {
          let date = UTCDate("\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T00:00:00Z")
          #expect((date != nil) == (day >= 1 && day <= length))
        }
      }
    }
  }

  @Test(arguments: [
    "", "2026-11-30", "2026-11-30T05:34:40", "2026-11-30t05:34:40Z", "2026-11-30T05:34:40z",
    "2026-11-30 05:34:40Z", "2026-11-30T05:34:40+00:00", "2026-11-30T05:34:40.0Z",
    "2026-11-30T05:34Z", "2026-11-30T24:00:00Z", "2026-11-30T05:60:00Z", "2026-12-31T23:59:60Z",
    "2026-1-30T05:34:40Z", "26-11-30T05:34:40Z", "0000-01-01T00:00:00Z", "-001-01-01T00:00:00Z",
    "+2026-11-30T05:34:40Z", "10000-01-01T00:00:00Z", " 2026-11-30T05:34:40Z",
    "2026-11-30T05:34:40Z ", "2026-11-30T05:34:40Z\n", "2026-11-3٠T05:34:40Z",
    "2026/11/30T05:34:40Z",
    "2026-11-30T05-34-40Z", "2026-11-30T+5:34:40Z", "2026-11-30T05:34: 4Z", "20261130T053440Z",
    "２026-11-30T05:34:40Z",
  ])
  func `any other form is refused`(text: String) {
    #expect(UTCDate(text) == nil)
  }

  @Test func `dates order as their seconds do`() throws {
    let earlier = try #require(UTCDate("2026-11-30T05:34:40Z"))
    let later = try #require(UTCDate("2026-11-30T05:34:41Z"))
    #expect(earlier < later && !(later < earlier) && earlier != later)
  }
}
