import Failure
import Testing

@Suite struct HexTests {
  @Test func `every byte has one text of two lower-case digits`() {
    let digits = Array("0123456789abcdef")
    for byte in UInt8.min...UInt8.max {
      let text = String([digits[Int(byte) / 16], digits[Int(byte) % 16]])
      #expect(Hex.encode([byte]) == text)
      #expect(Hex.decode(text) == [byte])
    }
    #expect(Hex.encode([]) == "" && Hex.decode("") == [])
    #expect(Hex.decode("00ff10") == [0, 255, 16])
  }

  @Test(arguments: [
    "0", "000", "0g", "g0", "AB", "aB", "0x00", " 00", "00 ", "0 0", "+1", "-1", "00\n", "é", "٠٠",
    "ａｂ", "0\0",
  ])
  func `anything else is refused`(text: String) {
    #expect(Hex.decode(text) == nil)
  }
}
