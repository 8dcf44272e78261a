/// What a `Range` field asks of a file (RFC 9110 section 14).
package enum ByteRange: Sendable, Equatable {
  /// All of it: no range, several ranges, another unit or no valid grammar, all of which a server may
  /// ignore (section 14.2).
  case whole
  /// These bytes, which are there.
  case part(Range<Int64>)
  /// Bytes that are not there.
  case unsatisfiable

  /// - Parameters:
  ///   - values: the values of all `Range` fields of the request.
  ///   - size: the size of the file, 0 or more.
  package init(_ values: [String], size: Int64) {
    precondition(size >= 0, "FaultOrigin: a file of negative size")
    let unit = "bytes="
    guard values.count == 1, let value = values.first,
      value.prefix(unit.count).lowercased() == unit
    else {
      self = .whole
      return
    }
    let range = String(value.dropFirst(unit.count)).trimmingBlanks()
    let ends = range.utf8.split(
      separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2 else {
      self = .whole
      return
    }
    switch (Position(ends[0]), Position(ends[1])) {
    case (.absent, .at(let length)):
      self = Self.suffix(length, size: size)
    case (.at(let first), .absent):
      self = first < size ? .part(first..<size) : .unsatisfiable
    case (.at(let first), .at(let last)):
      if last < first {
        self = .whole
      } else {
        self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
      }
    case (.absent, .absent), (.invalid, _), (_, .invalid):
      self = .whole
    }
  }

  /// A suffix of an empty file can be satisfied, but `Content-Range` has no words for it.
  private static func suffix(_ length: Int64, size: Int64) -> ByteRange {
    if length == 0 { return .unsatisfiable }
    return size == 0 ? .whole : .part(max(0, size - length)..<size)
  }

  /// One side of the hyphen. A number beyond 2^63-1 lies behind every file and counts as that.
  private enum Position {
    case absent
    case at(Int64)
    case invalid

    init(_ digits: Substring.UTF8View) {
      var value: Int64 = 0
      for digit in digits {
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else {
          self = .invalid
          return
        }
        let (tens, tooMany) = value.multipliedReportingOverflow(by: 10)
        let (sum, tooMuch) = tens.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
        value = tooMany || tooMuch ? .max : sum
      }
      self = digits.isEmpty ? .absent : .at(value)
    }
  }
}
