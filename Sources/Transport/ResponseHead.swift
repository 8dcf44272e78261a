import Failure

/// Status and header fields of one response, bounded while they arrive.
package struct ResponseHead: Sendable, Equatable {
  package var status: Int
  /// Lower-case names; a repeated field keeps its last value.
  package private(set) var fields: [String: String] = [:]
  private var byteCount = 0

  /// 64 KiB for all header lines of a response.
  package static let maximumByteCount = 65_536

  package init(status: Int, fields: [String: String] = [:]) {
    self.status = status
    self.fields = fields
  }

  /// Begins with a status line (`HTTP/1.1 206 …`); nil if it is none.
  ///
  /// - Parameter interim: the head before it in the same response, with which it shares the bound.
  package init?(statusLine: some StringProtocol, after interim: ResponseHead? = nil) {
    let parts = statusLine.split(separator: " ", maxSplits: 2)
    guard parts.count >= 2, parts[0].hasPrefix("HTTP/"), parts[1].utf8.count == 3,
      let status = Int(parts[1]), (100...999).contains(status)
    else { return nil }
    self.status = status
    byteCount = interim?.byteCount ?? 0
  }

  /// Adds a header line without its line end. Junk without a colon is ignored.
  /// - Throws: `too-large` beyond the bound.
  package mutating func add(line: some StringProtocol) throws(FetchFailure) {
    try count(line)
    guard let colon = line.firstIndex(of: ":") else { return }
    let value = line[line.index(after: colon)...]
    fields[line[..<colon].lowercased()] = String(Self.trimmed(value))
  }

  /// Counts a line that says nothing.
  /// - Throws: `too-large` beyond the bound.
  package mutating func count(_ line: some StringProtocol) throws(FetchFailure) {
    byteCount += line.utf8.count + 2
    guard byteCount <= Self.maximumByteCount else {
      throw FetchFailure(
        .tooLarge, "the response has more than \(Self.maximumByteCount / 1_024) KiB of headers")
    }
  }

  package subscript(field: String) -> String? { fields[field] }

  /// What the response announces; nil if it announces nothing. What is no number, or beyond all
  /// numbers, is longer than anything that was asked for.
  package var contentLength: Int64? {
    self["content-length"].map { Decimal.decode($0) ?? .max }
  }

  package var contentRange: ContentRange? { self["content-range"].flatMap { ContentRange($0) } }

  package var isRedirect: Bool {
    [301, 302, 303, 307, 308].contains(status) && self["location"] != nil
  }

  /// What came, for a message: status, content type and length.
  package var summary: String {
    let type = self["content-type"].map { ", " + $0.prefix { $0 != ";" }.shortened(to: 60) } ?? ""
    let length =
      self["content-length"].flatMap { Decimal.decode($0) }.map { ", \($0) bytes" } ?? ""
    return "HTTP \(status)\(type)\(length)"
  }

  private static func trimmed<Text: StringProtocol>(_ text: Text) -> Text.SubSequence {
    var text = text[...]
    while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
    while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
    return text
  }

  /// Refuses a body whose encoding is not the identity (`encoded-body`): nothing is ever decoded.
  package func checkEncoding() throws(FetchFailure) {
    guard let encoding = self["content-encoding"]?.lowercased(), !encoding.isEmpty,
      encoding != "identity"
    else { return }
    throw FetchFailure(
      .encodedBody,
      "the server sent a body encoded as \(encoding.shortened(to: 40)), which was not asked")
  }

  /// Refuses every status but those (`http-status`).
  package func checkStatus(_ wanted: Int...) throws(FetchFailure) {
    guard !wanted.contains(status) else { return }
    throw FetchFailure(.httpStatus, "the server answered \(summary)", httpStatus: status)
  }
}

/// The value of a Content-Range field (RFC 9110 section 14.4): `bytes first-last/total`.
package struct ContentRange: Sendable, Equatable {
  package var range: Range<Int64>
  /// Nil for `*`.
  package var total: Int64?

  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
    let halves = parts[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Decimal.decode(ends[0]), let last = Decimal.decode(ends[1]),
      first <= last, last < Int64.max
    else { return nil }
    range = first..<last + 1
    if halves[1] == "*" {
      total = nil
    } else {
      guard let total = Decimal.decode(halves[1]), total > last else { return nil }
      self.total = total
    }
  }
}

extension ResponseHead {
  /// Checks the answer to a request for `range` of a resource of `total` bytes: libcurl compares
  /// nothing of it.
  ///
  /// - Throws: `range-ignored` for a whole resource instead, `range-mismatch` for another window,
  ///   unit or total, `http-status`, `encoded-body`.
  package func check(range: Range<Int64>, total: Int64) throws(FetchFailure) {
    if status == 200 {
      throw FetchFailure(.rangeIgnored, "the server sent the whole file instead of a range")
    }
    try checkStatus(206)
    try checkEncoding()
    guard let answer = contentRange else {
      let type = self["content-type"]?.lowercased() ?? ""
      throw FetchFailure(
        .rangeMismatch,
        type.hasPrefix("multipart/byteranges")
          ? "the server sent several ranges instead of one"
          : "the server's Content-Range is missing or malformed")
    }
    guard answer.range == range, answer.total == nil || answer.total == total else {
      throw FetchFailure(
        .rangeMismatch,
        "the server sent bytes \(answer.range.lowerBound)-\(answer.range.upperBound - 1) of "
          + "\(answer.total.map(String.init) ?? "*") instead of "
          + "\(range.lowerBound)-\(range.upperBound - 1) of \(total)")
    }
    let length = range.upperBound - range.lowerBound
    if let announced = contentLength, announced != length, self["transfer-encoding"] == nil {
      throw FetchFailure(
        .rangeMismatch, "the server announced \(announced) bytes for a range of \(length)")
    }
  }
}
