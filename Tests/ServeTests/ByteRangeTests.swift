import FaultOrigin
import Testing

@Suite struct ByteRangeTests {
  @Test(
    "a range that is there is cut to the file",
    arguments: [
      ("bytes=0-0", 1, 0, 1), ("bytes=0-", 1, 0, 1), ("bytes=-1", 1, 0, 1),
      ("bytes=0-0", 10, 0, 1), ("bytes=9-9", 10, 9, 10), ("bytes=9-", 10, 9, 10),
      ("bytes=0-9", 10, 0, 10), ("bytes=0-10", 10, 0, 10), ("bytes=3-99", 10, 3, 10),
      ("bytes=-3", 10, 7, 10), ("bytes=-10", 10, 0, 10), ("bytes=-11", 10, 0, 10),
      ("bytes=007-08", 10, 7, 9), ("BYTES=1-2", 10, 1, 3), ("bytes= 1-2\t", 10, 1, 3),
      ("bytes=5-99999999999999999999", 10, 5, 10), ("bytes=5-9223372036854775807", 10, 5, 10),
      ("bytes=-99999999999999999999", 10, 0, 10),
      ("bytes=4294967295-4294967296", 5_000_000_000, 4_294_967_295, 4_294_967_297),
    ] as [(String, Int64, Int64, Int64)])
  func part(_ text: String, _ size: Int64, _ first: Int64, _ end: Int64) {
    #expect(ByteRange([text], size: size) == .part(first..<end))
  }

  @Test(
    "a range that is not there cannot be satisfied",
    arguments: [
      ("bytes=0-", 0), ("bytes=0-0", 0), ("bytes=1-", 1), ("bytes=1-1", 1), ("bytes=10-", 10),
      ("bytes=10-20", 10), ("bytes=-0", 10), ("bytes=-0", 0), ("bytes=-00", 10),
      ("bytes=99999999999999999999-", 10), ("bytes=9223372036854775807-", Int64.max),
    ] as [(String, Int64)])
  func unsatisfiable(_ text: String, _ size: Int64) {
    #expect(ByteRange([text], size: size) == .unsatisfiable)
  }

  @Test(
    "what is no single valid range means the whole file",
    arguments: [
      "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=1-2,4-5", "bytes=1-2,",
      "bytes=2-1", "bytes=--1", "bytes=-1-2", "bytes=1-2-3", "bytes=+1-2", "bytes=1 -2",
      "bytes=1- 2", "bytes=0x1-2", "bytes =1-2", "lines=1-2", "byte=1-2", "bytes:1-2",
      "bytes=\u{661}-2", " bytes=1-2",
    ])
  func whole(_ text: String) {
    #expect(ByteRange([text], size: 10) == .whole)
  }

  @Test("no field, two fields and the end of an empty file mean the whole file")
  func wholeOtherwise() {
    #expect(ByteRange([], size: 10) == .whole)
    #expect(ByteRange(["bytes=1-2", "bytes=3-4"], size: 10) == .whole)
    #expect(ByteRange(["bytes=-5"], size: 0) == .whole)
  }
}
