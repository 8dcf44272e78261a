import Failure
import Foundation
import Testing

@Suite struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `the examples of RFC 4648 come out`(bytes: String, text: String) {
    #expect(Base64.encode(Array(bytes.utf8)) == text)
    #expect(Base64.decode(text) == Array(bytes.utf8))
  }

  @Test func `texts of every length are those of Foundation`() {
    for length in 0...200 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ length &* 7) }
      let text = Data(bytes).base64EncodedString()
      #expect(Base64.encode(bytes) == text)
      #expect(Base64.decode(text) == bytes)
    }
  }

  /// Of all the 64² endings in `==` and 64³ in `=` exactly those without loose bits are right: each
  /// byte string has one text.
  @Test func `loose bits are refused`() {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var (ones, twos) = (0, 0)
    for first in alphabet {
      for second in alphabet {
        let one = String([first, second, "=", "="])
        if let bytes = Base64.decode(one) {
          ones += bytes.count == 1 && Base64.encode(bytes) == one ? 1 : 4_096
        }
        guard first == "Q" else { continue }
        for third in alphabet {
          let two = String([first, second, third, "="])
          if let bytes = Base64.decode(two) {
            twos += bytes.count == 2 && Base64.encode(bytes) == two ? 1 : 4_096
          }
        }
      }
    }
    #expect(ones == 256)
    #expect(twos == 65_536 / 64)
  }

  @Test(arguments: [
    "A", "AA", "AAA", "AAAAA", "AA=", "AAA", "AAA==", "A===", "====", "=", "==", "=AAA", "A=AA",
    "AA=A", "AA==AA==", "AAAA=", "AAAA====", "AR==", "AB==", "AAB=", "AA-_", "-_==", "AA AA===",
    " AAAA", "AAAA ", "AAAA\n", "AA\nAA", "AAAA\r\n", "A\0AA", "AA.=", "AA,A", "ＡＡＡＡ", "éAA",
    "AA=\u{301}", "AA==\n", "AA%3D",
  ])
  func `a text that is not the one of its bytes is refused`(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test func `no other byte stands for a digit`() {
    let digits = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for byte in UInt8.min..<128 {
      let text = String(decoding: [byte, 65, 65, 65], as: UTF8.self)
      #expect((Base64.decode(text) != nil) == digits.contains(byte))
    }
  }
}
