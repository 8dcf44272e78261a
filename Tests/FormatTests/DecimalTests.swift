import Failure
import Testing

@Suite struct DecimalTests {
  @Test(
    arguments: [
      0, 1, 9, 10, 99, 1_048_576, 2_147_483_648, 4_294_967_296, 9_007_199_254_740_993,
      999_999_999_999_999_999, 1_000_000_000_000_000_000, 9_223_372_036_854_775_806,
      9_223_372_036_854_775_807,
    ] as [Int64])
  func `a number is read from its text`(number: Int64) {
    #expect(Decimal.decode(String(number)) == number)
  }

  @Test(arguments: [
    "", "+5", "-5", "-0", "+0", "00", "05", "007", " 5", "5 ", "5\n", "5\0", "1_000", "1,000",
    "1.0",
    "1e3", "0x10", "٥", "５", "½", "1\u{301}", "9223372036854775808", "9999999999999999999",
    "10000000000000000000", "18446744073709551616", "99999999999999999999999999",
    "-9223372036854775808", "nan", "a",
  ])
  func `anything else is refused`(text: String) {
    #expect(Decimal.decode(text) == nil)
  }
}
