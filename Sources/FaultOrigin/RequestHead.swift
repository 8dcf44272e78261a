import Failure

/// Method, target and header fields of an HTTP/1.x request (RFC 9112 sections 3 and 5).
package struct RequestHead: Sendable, Equatable {
  package enum Version: Sendable, Equatable {
    case http10
    /// 1.1, or a later 1.x, which is answered as 1.1.
    case http11
  }

  package var method: String
  /// As it was sent: visible ASCII without `#`, in any of the four forms.
  package var target: String
  package var version: Version
  package var fields: HeaderFields
  /// The announced length of the body; 0 if there is none.
  package var contentLength: Int64
  /// Whether a body follows of which only a transfer coding knows the end.
  package var hasTransferCoding: Bool

  /// Whether the client counts on another request over this connection (RFC 9112 section 9.3).
  /// HTTP/1.0 connections never persist here, and none does behind a body, which is not read.
  package var isPersistent: Bool {
    version == .http11 && !hasBody
      && !fields.list("connection").contains { $0.lowercased() == "close" }
  }

  package var hasBody: Bool { contentLength > 0 || hasTransferCoding }

  /// Parses a head: request line and field lines, each with its CRLF, and without the empty line.
  ///
  /// Strict where the RFC lets a server choose: single spaces, no folded lines, no space in front of
  /// a colon, no control characters. What two readers could read differently is refused.
  package init(_ bytes: some Collection<UInt8>) throws(RequestRefusal) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    guard let last = lines.popLast(), last.isEmpty, let first = lines.popFirst() else {
      throw .malformed
    }
    (method, target, version) = try Self.requestLine(Self.withoutReturn(first))
    fields = HeaderFields()
    for line in lines {
      let (name, value) = try Self.field(Self.withoutReturn(line))
      fields.append(name, value)
    }
    let hosts = fields.values("host")
    guard hosts.count == 1 || hosts.isEmpty && version == .http10,
      hosts.allSatisfy({ $0.utf8.allSatisfy { 0x21...0x7e ~= $0 } })
    else { throw .malformed }
    hasTransferCoding = !fields.values("transfer-encoding").isEmpty
    contentLength = 0
    switch fields.values("content-length").count {
    case 0: break
    case 1:
      guard !hasTransferCoding, let text = fields.single("content-length"),
        let length = Decimal.decode(text)
      else { throw .malformed }
      contentLength = length
    default: throw .malformed
    }
  }

  private static func withoutReturn<Line: Collection<UInt8>>(
    _ line: Line
  ) throws(RequestRefusal) -> [UInt8] {
    var bytes = Array(line)
    guard bytes.popLast() == UInt8(ascii: "\r") else { throw .malformed }
    return bytes
  }

  private static func requestLine(
    _ line: [UInt8]
  ) throws(RequestRefusal) -> (String, String, Version) {
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, isToken(words[0]), !words[1].isEmpty,
      words[1].allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "#") })
    else { throw .malformed }
    let name = Array("HTTP/d.d".utf8)
    guard words[2].count == name.count,
      zip(words[2], name).allSatisfy({ byte, wanted in
        wanted == UInt8(ascii: "d")
          ? UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte : byte == wanted
      })
    else { throw .malformed }
    let numbers = words[2].suffix(3)
    guard numbers.first == UInt8(ascii: "1") else { throw .unsupportedVersion }
    return (
      String(decoding: words[0], as: UTF8.self), String(decoding: words[1], as: UTF8.self),
      numbers.last == UInt8(ascii: "0") ? .http10 : .http11
    )
  }

  private static func field(_ line: [UInt8]) throws(RequestRefusal) -> (String, String) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]) else {
      throw .malformed
    }
    let value = line[(colon + 1)...]
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == UInt8(ascii: "\t") }) else {
      throw .malformed
    }
    return (
      String(decoding: line[..<colon], as: UTF8.self),
      String(decoding: value, as: UTF8.self).trimmingBlanks()
    )
  }

  /// RFC 9110 section 5.6.2.
  private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}

/// Why a request is not looked at any further. The connection ends behind the answer, because nobody
/// knows where the next request would begin.
package enum RequestRefusal: Error, Sendable, Equatable {
  /// Not the grammar of RFC 9112, or a message that two readers could read differently.
  case malformed
  /// The request line alone is longer than a whole head may be.
  case targetTooLong
  /// The head is longer than ``RequestReader/headLimit``.
  case headTooLarge
  /// Not HTTP/1.x.
  case unsupportedVersion
  /// The head took longer than an idle connection may stay.
  case late
}
