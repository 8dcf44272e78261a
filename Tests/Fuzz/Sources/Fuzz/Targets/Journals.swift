import Crypto
@testable import System
@testable import Storage

extension FuzzTarget {
  /// A journal says what was written into it or less, never more, whatever became of its bytes; and it
  /// can be written on.
  static let journal = FuzzTarget("journal") { bytes in
    do throws(SystemError) {
      let directory = FuzzDirectory.shared
      var reader = InputReader(bytes)
      let kind = reader.byte()
      let blockCount: Int64 = 1_000
      let identity = SHA256.digest([kind & 2])
      var written: [Range<Int64>] = []
      try directory.removeIfPresent("journal")
      if kind & 1 == 0 {
        try directory.put("journal", Array(reader.rest))
      } else {
        let journal = try open(identity, blockCount)
        for _ in 0..<reader.choice(20) {
          let first = Int64(reader.choice(900))
          written.append(first..<first + Int64(reader.byte()) % 100 + 1)
        }
        try journal.append(written)
        let good = try directory.readFile("journal", limit: 1 << 20)
        var content = good
        damage(&content, &reader)
        try directory.put("journal", content)
      }
      let journal = try open(identity, blockCount)
      for claim in journal.claims {
        expect(claim.lowerBound >= 0 && claim.upperBound <= blockCount, "the claim \(claim)")
        expect(written.contains(claim), "a claim that nobody made: \(claim)")
      }
      if !journal.isDamaged { expect(written.starts(with: journal.claims), "an odd order") }
      let more: [Range<Int64>] = [5..<6, 999..<1_000]
      try journal.append(more)
      let again = try open(identity, blockCount)
      expect(again.claims == journal.claims + more, "what was appended is lost")
    } catch { fatalError("Fuzz: \(error)") }
  }

  private static func open(
    _ identity: Digest, _ blockCount: Int64
  ) throws(SystemError) -> Journal {
    try Journal(
      in: FuzzDirectory.shared, name: "journal", identity: identity, blockCount: blockCount)
  }

  private static func damage(_ content: inout [UInt8], _ reader: inout InputReader) {
    while !reader.rest.isEmpty, !content.isEmpty {
      let place = reader.choice(content.count)
      switch reader.byte() % 6 {
      case 0: content[place] ^= reader.byte()
      case 1: content.removeLast(content.count - place)
      case 2: for index in place..<content.count { content[index] = 0 }
      case 3: content += reader.bytes(Int(reader.byte()))
      case 4 where content.count >= 96 + place: content.swapAt(64 + place % 32, 64 + place)
      case 5 where content.count >= 64 + place: content += content[place..<place + 32]
      default: break
      }
    }
  }
}
