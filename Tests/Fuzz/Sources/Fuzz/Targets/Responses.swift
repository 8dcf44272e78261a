import Failure
@testable import Transport

extension FuzzTarget {
  /// A body is let through for the range that was asked for alone; headers stay within their bound.
  static let responseHead = FuzzTarget("response-head") { bytes in
    var reader = InputReader(bytes)
    let first = Int64(reader.choice(1_000))
    let range = first..<first + Int64(reader.choice(1_000)) + 1
    let total = range.upperBound + Int64(reader.choice(1_000))
    let text = String(decoding: reader.rest, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard var head = ResponseHead(statusLine: lines[0]) else { return }
    var byteCount = 0
    for line in lines.dropFirst() {
      byteCount += line.utf8.count + 2
      let isTaken = (try? head.add(line: line)) != nil
      expect(isTaken == (byteCount <= ResponseHead.maximumByteCount), "\(byteCount) bytes")
      guard isTaken else { return }
    }
    expect((100...999).contains(head.status), "status \(head.status)")
    expect(head.summary.utf8.count < 400, "a long summary")
    _ = head.isRedirect
    if let length = head.contentLength { expect(length >= 0, "length \(length)") }
    guard (try? head.check(range: range, total: total)) != nil else { return }
    expect(head.status == 206, "status \(head.status)")
    let value = normalised(head["content-range"] ?? "")
    let window = "bytes \(range.lowerBound)-\(range.upperBound - 1)"
    expect(value == "\(window)/\(total)" || value == "\(window)/*", "the range '\(value)'")
    let encoding = head["content-encoding"] ?? ""
    expect(encoding.isEmpty || encoding.lowercased() == "identity", "the encoding '\(encoding)'")
  }

  /// A range has one text but for the case of its unit and spaces.
  static let contentRange = FuzzTarget("content-range") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    guard let range = ContentRange(text) else { return }
    expect(range.range.lowerBound >= 0 && !range.range.isEmpty, "an odd range")
    if let total = range.total { expect(range.range.upperBound <= total, "beyond the total") }
    let canonical =
      "bytes \(range.range.lowerBound)-\(range.range.upperBound - 1)/"
      + (range.total.map { "\($0)" } ?? "*")
    expect(areSame(normalised(text), canonical), "another range")
  }

  private static func normalised(_ text: String) -> String {
    text.lowercased().split(separator: " ").joined(separator: " ")
  }
}
