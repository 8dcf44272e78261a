import Failure
import FetchResKit
import SignedNote
import Testing

/// What the record of trusted keys takes.
@Suite struct TrustRecordTests {
  static func key(_ number: UInt64, name: String = "example.org/thing") throws -> NoteKey {
    var bytes = [UInt8](repeating: 0, count: 32)
    for index in 0..<8 {
      bytes[31 - index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
    return try #require(NoteKey(name: name, publicKey: bytes))
  }

  static func adding(_ keys: NoteKey...) -> FailureCategory? {
    var trust = Trust()
    do throws(FetchFailure) {
      for key in keys { _ = try trust.add(key, name: nil) }
      return nil
    } catch { return error.category }
  }

  @Test("several keys of one origin are kept, two with the same name and id are refused")
  func sameID() throws {
    let (one, twin) = (try Self.key(116_494), try Self.key(117_164))
    #expect(one.id == twin.id && one != twin)
    #expect(Self.adding(one, twin) == .usage)
    #expect(Self.adding(one, try Self.key(1)) == nil)
    #expect(Self.adding(one, one) == nil)
    #expect(Self.adding(one, try Self.key(117_164, name: "example.org/other")) == nil)
  }
}
