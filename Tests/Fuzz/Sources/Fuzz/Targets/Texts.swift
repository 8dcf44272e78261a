import Failure

extension FuzzTarget {
  /// Hex, base64, decimal and date texts: every value has one text, and a text that is read is it.
  static let texts = FuzzTarget("texts") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let value = Hex.decode(text) { expect(areSame(Hex.encode(value), text), "another hex text") }
    if let value = Base64.decode(text) {
      expect(areSame(Base64.encode(value), text), "another base64 text")
    }
    if let value = Decimal.decode(text) {
      expect(value >= 0 && areSame(String(value), text), "another decimal text")
    }
    if let date = UTCDate(text) { expect(areSame(date.text, text), "another date text") }

    expect(Hex.decode(Hex.encode(bytes)) == bytes, "hex that is not read back")
    expect(Base64.decode(Base64.encode(bytes)) == bytes, "base64 that is not read back")
    var reader = InputReader(bytes)
    let number = reader.number()
    expect(Decimal.decode(String(number)) == (number < 0 ? nil : number), "the number \(number)")
    // Years 1 to 9999.
    let range = Int64(-62_135_596_800)...253_402_300_799
    let date = UTCDate(
      seconds: range.lowerBound + Int64(number.magnitude % UInt64(range.count)))
    expect(UTCDate(date.text) == date, "the date \(date.text)")
  }
}
