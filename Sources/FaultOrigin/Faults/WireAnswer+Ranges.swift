/// Wrong answers to a request for a range. Each says whether it changed anything.
extension WireAnswer {
  private var isPartial: Bool { self["Content-Range"] != nil }

  mutating func sendWhole(_ context: FaultContext) -> Bool {
    guard let file = context.file, context.range != nil, isPartial else { return false }
    statusLine = Self.statusLine(.ok)
    self["Content-Range"] = nil
    replaceBody([.file(file.descriptor, 0..<file.size)])
    return true
  }

  /// Sends another window, and says so.
  mutating func moveWindow(_ first: Int64, _ end: Int64, _ context: FaultContext) -> Bool {
    guard let file = context.file, let range = context.range, isPartial,
      range.lowerBound + first >= 0, range.upperBound + end <= file.size,
      range.lowerBound + first < range.upperBound + end
    else { return false }
    let moved = range.lowerBound + first..<range.upperBound + end
    self["Content-Range"] = "bytes \(moved.lowerBound)-\(moved.upperBound - 1)/\(file.size)"
    replaceBody([.file(file.descriptor, moved)])
    return true
  }

  /// A byte more than the file has, and says that it has it.
  mutating func sendMore(_ context: FaultContext) -> Bool {
    guard let file = context.file, let range = context.range, isPartial else { return false }
    self["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound)/\(file.size + 1)"
    replaceBody(body + [.bytes([0])])
    return true
  }

  /// - Parameter text: of the range that is sent and the size of the file; nil to leave the field out.
  mutating func changeContentRange(
    _ context: FaultContext, _ text: (Range<Int64>, Int64) -> String?
  ) -> Bool {
    guard let file = context.file, let range = context.range, isPartial else { return false }
    self["Content-Range"] = text(range, file.size)
    return true
  }

  mutating func sendAsMultipart(_ context: inout FaultContext) -> Bool {
    guard let range = self["Content-Range"] else { return false }
    let boundary = "b0undary\(context.draw.next())"
    let part =
      "--\(boundary)\r\nContent-Type: application/octet-stream\r\nContent-Range: \(range)\r\n\r\n"
    self["Content-Range"] = nil
    self["Content-Type"] = "multipart/byteranges; boundary=\(boundary)"
    replaceBody(
      [.bytes(Array(part.utf8))] + body + [.bytes(Array("\r\n--\(boundary)--\r\n".utf8))])
    return true
  }

  mutating func refuseRange(_ context: FaultContext) -> Bool {
    guard let file = context.file, isPartial else { return false }
    statusLine = Self.statusLine(.rangeNotSatisfiable)
    self["Content-Range"] = "bytes */\(file.size)"
    replaceBody([])
    return true
  }
}

extension FaultContext {
  /// Whether the client wants bytes behind the end of the file, which it could have known.
  var asksBeyondEnd: Bool {
    guard let file, let text = head.fields.single("range"),
      let end = text.split(separator: "-").last.flatMap({ PlanText.number($0) })
    else { return false }
    return end >= file.size
  }
}
