import Failure

/// The quantities of a plan as text.
enum PlanText {
  /// Digits alone.
  static func number(_ text: some StringProtocol) -> Int64? { Decimal.decode(text) }

  /// Digits, optionally K M G, powers of 1024.
  static func size(_ text: some StringProtocol) -> Int64? {
    scaled(text, ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30])
  }

  /// Digits with ms, s or m, none meaning seconds: a number of seconds, at most a day.
  static func time(_ text: some StringProtocol) -> Double? {
    let seconds: Double? =
      if text.hasSuffix("ms") {
        number(text.dropLast(2)).map { Double($0) / 1_000 }
      } else {
        scaled(text, ["s": 1, "m": 60]).map(Double.init)
      }
    return seconds.flatMap { $0 <= 86_400 ? $0 : nil }
  }

  /// `25%`: a share of one.
  static func share(_ text: some StringProtocol) -> Double? {
    guard text.hasSuffix("%"), let percent = number(text.dropLast()), percent <= 100 else {
      return nil
    }
    return Double(percent) / 100
  }

  private static func scaled(
    _ text: some StringProtocol, _ units: [Character: Int64]
  ) -> Int64? {
    guard let last = text.last else { return nil }
    let unit = units[last]
    guard let value = unit == nil ? number(text) : number(text.dropLast()) else { return nil }
    let (product, overflow) = value.multipliedReportingOverflow(by: unit ?? 1)
    return overflow ? nil : product
  }
}
