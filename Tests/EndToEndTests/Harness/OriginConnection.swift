import Foundation
import System

/// One connection to the tests' own server, served on the thread that calls ``serve()``.
final class OriginConnection {
  private let socket: Socket
  private let number: Int
  private let root: String
  private let state: Monitor<Origin.State>
  private var unread: [UInt8] = []

  init(_ socket: Socket, number: Int, root: String, state: Monitor<Origin.State>) {
    (self.socket, self.number, self.root, self.state) = (socket, number, root, state)
  }

  func serve() {
    // What the peer does to the connection is no failure of the server.
    try? serveAll()
    socket.shutdown()
  }

  private func serveAll() throws {
    try socket.sendAtOnce()
    while let request = try nextRequest() {
      var response = OriginResponse(to: request, root: root)
      let bend = state.look { $0.bend }
      bend?(request, &response)
      if case .keepAlive = response.ending, request.fields["connection"]?.lowercased() == "close" {
        response.ending = .close
      }
      let entry = state.change { state in
        state.entries.append(Origin.Entry(request: request, status: response.status))
        return state.entries.count - 1
      }
      try send(response, entry)
      switch response.ending {
      case .keepAlive: continue
      case .close: return
      case .reset: return try socket.resetOnClose()
      case .hold:
        state.change { $0.held += 1 }
        _ = state.wait { $0.isStopped ? true : nil }
        return
      }
    }
  }

  // MARK: Sending

  private static let pieceSize = 32_768

  private func send(_ response: OriginResponse, _ entry: Int) throws {
    if let raw = response.raw { return try send(raw) }
    try send(response.head)
    let end = min(response.limit ?? .max, response.body.count)
    let pieceSize = Int64(response.pace?.bytes ?? Self.pieceSize)
    var file: Descriptor?
    if case .file(let path, _) = response.body {
      file = try Descriptor.open(path, Descriptor.readOnly)
    }
    var sent: Int64 = 0
    var buffer = [UInt8](repeating: 0, count: Int(min(pieceSize, max(1, end))))
    while sent < end {
      if let pace = response.pace, sent > 0 {
        let isOver = state.wait(until: Clocks.monotonic() + pace.seconds) {
          $0.isStopped ? true : nil
        }
        if isOver == true { return }
      }
      let count = Int(min(pieceSize, end - sent))
      // Counted before it goes out: whoever has it, and reads the counts, finds it in them.
      let (total, progress) = state.change { state in
        if entry < state.entries.count { state.entries[entry].bodyBytes += Int64(count) }
        state.bodyBytes += Int64(count)
        return (state.bodyBytes, state.onProgress)
      }
      switch response.body {
      case .bytes(let bytes): try send(Array(bytes[Int(sent)..<Int(sent) + count]))
      case .file(_, let range):
        try buffer.withUnsafeMutableBytes { buffer in
          let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
          _ = try file?.read(into: piece, at: range.lowerBound + sent)
          try socket.send(UnsafeRawBufferPointer(piece))
        }
      }
      sent += Int64(count)
      progress?(total)
    }
  }

  private func send(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try socket.send($0) }
  }

  // MARK: Receiving

  /// Nil once the peer has closed.
  private func nextRequest() throws -> OriginRequest? {
    let separator = Data("\r\n\r\n".utf8)
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      if let end = Data(unread).range(of: separator) {
        let head = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
        unread.removeFirst(end.upperBound)
        let number = state.change { state in
          defer { state.requests += 1 }
          return state.requests
        }
        return request(head, number)
      }
      let count = try buffer.withUnsafeMutableBytes { try socket.receive(into: $0) }
      if count == 0 { return nil }
      unread += buffer[..<count]
    }
  }

  private func request(_ head: String, _ number: Int) -> OriginRequest? {
    let lines = head.components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count == 3 else { return nil }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let target = String(words[1])
    let path = String(target.prefix { $0 != "?" })
    return OriginRequest(
      number: number, connection: self.number, method: String(words[0]), target: target,
      path: path.removingPercentEncoding ?? path, fields: fields,
      range: fields["range"].flatMap(Self.range))
  }

  private static func range(_ text: String) -> Range<Int64>? {
    let parts = text.split(separator: "=")
    guard parts.count == 2, parts[0] == "bytes" else { return nil }
    let ends = parts[1].split(separator: "-").compactMap { Int64($0) }
    guard ends.count == 2, ends[0] <= ends[1] else { return nil }
    return ends[0]..<ends[1] + 1
  }
}
