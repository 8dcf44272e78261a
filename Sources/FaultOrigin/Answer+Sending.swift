import System

extension Answer {
  /// Status line and fields with the empty line behind them (RFC 9112 sections 4 and 5).
  ///
  /// - Parameter now: seconds since 1970.
  package func head(now: Int64) -> String {
    var text = "HTTP/1.1 \(status.code) \(status.reason)\r\nDate: \(HTTPDate.text(now))\r\n"
    for field in fields.all { text += "\(field.name): \(field.value)\r\n" }
    return text + (closes ? "Connection: close\r\n\r\n" : "\r\n")
  }

  /// Sends all of it.
  func send(over socket: Socket, now: Int64) throws(SystemError) {
    let head = head(now: now)
    switch body {
    case .none: try socket.send(head)
    case .text(let text): try socket.send(head + text)
    case .file(let descriptor, let range):
      try socket.send(head, isFollowed: !range.isEmpty)
      try socket.sendFile(descriptor, range)
    }
  }
}

extension Socket {
  func send(_ text: String, isFollowed: Bool = false) throws(SystemError) {
    let bytes = Array(text.utf8)
    let result: Result<Void, SystemError> = bytes.withUnsafeBytes { bytes in
      do throws(SystemError) {
        return .success(try send(bytes, isFollowed: isFollowed))
      } catch { return .failure(error) }
    }
    try result.get()
  }
}
