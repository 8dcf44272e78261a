import Failure

/// The texts of sizes, times and dates on the command line.
enum Quantities {
  /// Digits, optionally K M G T, powers of 1024: a number of bytes.
  static func size(_ text: String) -> Int64? {
    scaled(text, ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40])
  }

  /// Digits, optionally s m h d: a number of seconds.
  static func time(_ text: String) -> Double? {
    scaled(text, ["s": 1, "m": 60, "h": 3_600, "d": 86_400]).map(Double.init)
  }

  /// RATE/TIME.
  static func stall(_ text: String) -> (rate: Int64, window: Double)? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let rate = size(parts[0]), let window = time(parts[1]), window > 0
    else { return nil }
    return (rate, window)
  }

  /// RFC 3339, or `+90d` from now.
  static func date(_ text: String, now: UTCDate) -> UTCDate? {
    if text.hasPrefix("+") {
      // No date that a manifest can hold lies further ahead.
      return time(String(text.dropFirst())).flatMap { seconds in
        seconds < 9_000 * 366 * 86_400 ? UTCDate(seconds: now.seconds + Int64(seconds)) : nil
      }
    }
    return UTCDate(text)
  }

  /// A seed: decimal, up to 2^63-1.
  static func seed(_ text: String) -> UInt64? { Decimal.decode(text).map { UInt64($0) } }

  static func count(_ text: String) -> Int? {
    Decimal.decode(text).flatMap { $0 <= 1_000_000 ? Int($0) : nil }
  }

  /// A number with its digits in groups of three.
  static func grouped(_ number: Int64) -> String {
    let digits = String(number.magnitude)
    var groups: [Substring] = []
    var rest = digits[...]
    while rest.count > 3 {
      groups.insert(rest.suffix(3), at: 0)
      rest = rest.dropLast(3)
    }
    return (number < 0 ? "-" : "") + ([rest] + groups).joined(separator: ",")
  }

  /// A number of things: `1 alert`, `2,000 alerts`.
  static func counted(_ number: Int64, _ singular: String, _ plural: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? singular : plural ?? singular + "s")"
  }

  private static func scaled(_ text: String, _ units: [Character: Int64]) -> Int64? {
    guard let last = text.last else { return nil }
    let unit = units[last]
    guard let number = Decimal.decode(unit == nil ? text[...] : text.dropLast()) else { return nil }
    let (value, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
    return overflow ? nil : value
  }

  /// A number of bytes for people: three digits and a unit.
  static func shown(_ bytes: Int64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (Double(bytes), 0)
    while value >= 1_000, unit < units.count - 1 {
      value /= 1_024
      unit += 1
    }
    if unit == 0 { return "\(bytes) B" }
    let tenths = Int64((value * 10).rounded())
    return value < 100
      ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\(Int64(value.rounded())) \(units[unit])"
  }

  /// Seconds for people, in one unit: `12 s`, `3 min`, `2 h`, `40 d`.
  static func shown(age seconds: Int64) -> String {
    switch max(0, seconds) {
    case let seconds where seconds < 120: "\(seconds) s"
    case let seconds where seconds < 7_200: "\(seconds / 60) min"
    case let seconds where seconds < 172_800: "\(seconds / 3_600) h"
    case let seconds: "\(seconds / 86_400) d"
    }
  }

  /// `m:ss` or `h:mm:ss`.
  static func shown(seconds: Double) -> String {
    guard seconds.isFinite, seconds >= 0, seconds < 360_000 else { return "--:--" }
    let whole = Int(seconds.rounded())
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return whole < 3_600
      ? "\(whole / 60):\(two(whole % 60))"
      : "\(whole / 3_600):\(two(whole / 60 % 60)):\(two(whole % 60))"
  }
}
