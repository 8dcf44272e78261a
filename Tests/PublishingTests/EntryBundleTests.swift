import Failure
import ReleaseLog
import TestSupport
import Testing

@Suite struct EntryBundleTests {
  private func category(_ bytes: [UInt8], _ width: Int) -> FailureCategory? {
    TestSupport.category { () throws(FetchFailure) in _ = try EntryBundle(bytes, width: width) }
  }

  @Test func `a bundle is its entries, each behind its length`() throws {
    let entries: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 7, count: 300)]
    let bytes: [UInt8] = [0, 3, 1, 2, 3, 0, 0, 1, 44] + [UInt8](repeating: 7, count: 300)
    #expect(EntryBundle(entries: entries).bytes == bytes)
    #expect(try EntryBundle(bytes, width: 3).entries == entries)
  }

  @Test func `no entries are no bytes`() throws {
    #expect(EntryBundle(entries: []).bytes == [])
    #expect(try EntryBundle([], width: 0).entries == [])
  }

  @Test func `a bundle that is longer gives its first entries`() throws {
    let bytes = EntryBundle(entries: [[1], [2], [3]]).bytes
    #expect(try EntryBundle(bytes, width: 2).entries == [[1], [2]])
    #expect(category(bytes, 4) == .tileInvalid)
  }

  @Test func `what follows the wanted entries has to be entries too`() {
    let bytes = EntryBundle(entries: [[1], [2]]).bytes
    #expect(category(bytes + [0], 1) == .tileInvalid)
    #expect(category(bytes + [0, 2, 1], 1) == .tileInvalid)
    #expect(category(bytes + [0, 0], 1) == nil)
  }

  @Test func `a bundle cut anywhere is refused`() {
    let bytes = EntryBundle(entries: [[1, 2], [3], []]).bytes
    for count in 0..<bytes.count {
      #expect(category(Array(bytes.prefix(count)), 3) == .tileInvalid)
    }
  }

  @Test func `the largest bundle is read and one entry more is not`() throws {
    let entry = [UInt8](repeating: 9, count: 65_535)
    let bytes = EntryBundle(entries: [[UInt8]](repeating: entry, count: 256)).bytes
    #expect(bytes.count == EntryBundle.maximumByteCount)
    #expect(bytes.count == 16_777_472)
    #expect(try EntryBundle(bytes, width: 256).entries.count == 256)
    #expect(category(bytes + [0, 0], 256) == .tileInvalid)
  }
}
