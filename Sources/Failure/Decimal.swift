/// Strict decimal text: digits alone, no sign, no leading zero, at most 2^63-1.
public enum Decimal {
  public static func decode(_ text: some StringProtocol) -> Int64? {
    let digits = text.utf8
    guard !digits.isEmpty, digits.count <= 19,
      digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      digits.count == 1 || digits.first != UInt8(ascii: "0")
    else { return nil }
    return Int64(text)
  }
}
