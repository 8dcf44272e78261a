@testable import FetchResKit

extension FuzzTarget {
  /// What a control port sends is the same wherever it is cut, and nothing in it is without a bound.
  static let torReply = FuzzTarget("tor-reply") { bytes in
    let whole = replies([bytes[...]])
    expect(whole == replies(bytes.indices.map { bytes[$0...$0] }), "other replies, byte by byte")
    for reply in whole ?? [] {
      expect((0...999).contains(reply.code), "code \(reply.code)")
      expect((1...TorReplyReader.maximumLineCount).contains(reply.lines.count), "many lines")
      expect(
        reply.lines.allSatisfy { $0.utf8.count < TorReplyReader.maximumLineByteCount },
        "a long line")
      if let percent = reply.bootstrapPercent {
        expect((0...100).contains(percent), "\(percent) percent")
      }
      if let file = TorAuthentication(reply)?.cookieFile {
        expect(!file.utf8.contains(0), "a path with an end in it")
      }
      if let challenge = TorChallenge(reply) {
        expect(challenge.nonce.count == TorCookie.byteCount, "a nonce of another length")
      }
    }
  }

  /// Nil if a piece was refused.
  private static func replies(_ pieces: [ArraySlice<UInt8>]) -> [TorReply]? {
    var reader = TorReplyReader()
    var found: [TorReply] = []
    for piece in pieces {
      guard let more = try? reader.take(piece) else { return nil }
      found += more
    }
    return found
  }
}
