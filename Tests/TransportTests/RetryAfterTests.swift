import Failure
import Testing

@testable import Transport

@Suite struct RetryAfterTests {
  /// 2026-11-30T05:34:40Z, a Monday.
  private let now: Int64 = 1_796_016_880
  private let week = 7.0 * 86_400

  private func seconds(_ text: String, date: String? = nil) -> Double? {
    RetryAfter.seconds(text, date: date, now: now)
  }

  @Test(arguments: [("0", 0.0), ("1", 1), ("120", 120), ("007", 7), ("604800", 604_800)])
  func `seconds are taken as they are`(_ text: String, _ expected: Double) {
    #expect(seconds(text) == expected)
  }

  @Test(arguments: [
    "604801", "3155760000", "9223372036854775808", "99999999999999999999",
    String(repeating: "9", count: 400),
  ])
  func `a century is a week`(_ text: String) { #expect(seconds(text) == week) }

  @Test(arguments: [
    "Mon, 30 Nov 2026 05:36:40 GMT", "Monday, 30-Nov-26 05:36:40 GMT", "Mon Nov 30 05:36:40 2026",
  ])
  func `a date in any of the three forms is the time until then`(_ text: String) {
    #expect(seconds(text) == 120)
  }

  @Test(arguments: [
    "Mon, 30 Nov 2026 05:34:39 GMT", "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Mon, 01 Jan 0001 00:00:00 GMT",
  ])
  func `a date in the past is no wait`(_ text: String) { #expect(seconds(text) == 0) }

  @Test(arguments: [
    "Fri, 31 Dec 9999 23:59:59 GMT", "Tue, 30 Nov 2027 05:34:40 GMT",
    "Monday, 30-Nov-76 05:34:40 GMT",
  ])
  func `a date that is far away is a week`(_ text: String) { #expect(seconds(text) == week) }

  @Test func `the server's own clock is what its date is measured by`() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(seconds("Sun, 06 Nov 1994 08:50:37 GMT", date: date) == 60)
    #expect(seconds("Sunday, 06-Nov-94 08:50:37 GMT", date: date) == 60)
    #expect(seconds("Sun, 06 Nov 1994 08:49:00 GMT", date: date) == 0)
    #expect(seconds("Mon, 30 Nov 2026 05:34:50 GMT", date: "yesterday") == 10)
    #expect(seconds("60", date: date) == 60)
  }

  @Test(arguments: [
    "", " ", "-1", "+5", "1.5", "1e3", "0x10", "5 ", " 5", "5s", "soon", "inf", "nan", "٣",
    "Mon, 30 Nov 2026 05:36:40", "Mon, 30 Nov 2026 05:36:40 UTC", "Mon, 30 Nov 2026 05:36:40 +0000",
    "mon, 30 Nov 2026 05:36:40 GMT", "Tue, 30 Nov 2026 05:36:40 GMT",
    "Mon, 30 nov 2026 05:36:40 GMT", "Mon, 30 Nov 2026 24:00:00 GMT",
    "Mon, 30 Feb 2026 05:36:40 GMT", "Mon, 30 Nov 26 05:36:40 GMT", "Mon 30 Nov 2026 05:36:40 GMT",
    "Mon,  30 Nov 2026 05:36:40 GMT", "Mon, 30-Nov-2026 05:36:40 GMT",
    "Mon, 30-Nov-26 05:36:40 GMT", "Monday, 30-Nov--6 05:36:40 GMT",
    "Monday, 30-Nov-+6 05:36:40 GMT", "Monday, 30-Nov-2026 05:36:40 GMT",
    "Mon Nov 30 05:36:40 2026 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov 06  08:49:37 1994",
    "2026-11-30T05:36:40Z", "Mon, 30 Nov 2026 05:36:60 GMT",
  ])
  func `anything else is ignored`(_ text: String) { #expect(seconds(text) == nil, "\(text)") }
}
