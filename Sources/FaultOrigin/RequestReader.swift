/// Cuts the bytes of a connection into request heads. Bytes that came too early (pipelining, RFC 9112
/// section 9.3.2) are kept for the next request.
///
/// Holds at most ``headLimit`` bytes and one chunk, as long as nothing is appended before ``next()``
/// asked for more.
package struct RequestReader: Sendable {
  /// The most bytes that a head may have, its empty line included.
  package static let headLimit = 65_536

  package enum Step: Sendable, Equatable {
    case needsMore
    case request(RequestHead)
    case refused(RequestRefusal)
  }

  private var bytes: [UInt8] = []
  /// Where the bytes begin that were not looked at yet, and the line that they belong to.
  private var scanned = 0
  private var lineStart = 0

  package init() {}

  /// Whether nothing of a request is here.
  package var isEmpty: Bool { bytes.isEmpty }

  package mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// The next request, if it is here as a whole.
  package mutating func next() -> Step {
    while scanned < bytes.count {
      guard scanned < Self.headLimit else {
        return .refused(lineStart == 0 ? .targetTooLong : .headTooLarge)
      }
      let position = scanned
      scanned += 1
      guard bytes[position] == UInt8(ascii: "\n") else { continue }
      // A lone line feed would be the end of a line for some and a part of it for others.
      guard position > lineStart, bytes[position - 1] == UInt8(ascii: "\r") else {
        return .refused(.malformed)
      }
      if position == lineStart + 1 {
        if lineStart > 0 { return takeHead(before: lineStart) }
        // An empty line in front of a request is skipped (RFC 9112 section 2.2).
        bytes.removeSubrange(...position)
        scanned = 0
      } else {
        lineStart = position + 1
      }
    }
    return .needsMore
  }

  private mutating func takeHead(before end: Int) -> Step {
    defer {
      bytes.removeSubrange(..<scanned)
      (scanned, lineStart) = (0, 0)
    }
    do throws(RequestRefusal) {
      return .request(try RequestHead(bytes[..<end]))
    } catch {
      return .refused(error)
    }
  }
}
