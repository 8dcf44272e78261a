import Failure
import Testing

@testable import FaultOrigin

@Suite struct PlainSHA256Tests {
  @Test(
    "the examples of FIPS 180-4 come out",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func examples(_ text: String, _ digest: String) {
    #expect(Hex.encode(PlainSHA256.digest(Array(text.utf8))) == digest)
  }

  @Test("a million letters, in pieces of any size, come out as in one")
  func pieces() {
    var hash = PlainSHA256()
    var (left, size) = (1_000_000, 1)
    while left > 0 {
      let count = min(left, size)
      hash.update([UInt8](repeating: UInt8(ascii: "a"), count: count))
      (left, size) = (left - count, size % 5_000 + 777)
    }
    #expect(
      Hex.encode(hash.finish())
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }
}
