import Foundation
import System

/// One TCP connection to a server under test, and what came over it.
final class RawClient {
  struct Answer {
    var status: Int
    var head: String
    var fields: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
  }

  struct Ended: Error {}

  let socket: Socket
  private var received: [UInt8] = []

  /// - Parameter address: `127.0.0.1:PORT` or `[::1]:PORT`.
  init(_ address: String) throws {
    let port = UInt16(address.split(separator: ":").last ?? "") ?? 0
    let isIPv6 = address.hasPrefix("[")
    let number = Foundation.socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    socket = Socket(owning: Descriptor(owning: number))
    var result: Int32
    if isIPv6 {
      var name = sockaddr_in6()
      name.sin6_family = sa_family_t(AF_INET6)
      name.sin6_port = port.bigEndian
      inet_pton(AF_INET6, "::1", &name.sin6_addr)
      result = withUnsafeBytes(of: &name) {
        connect(
          number, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
      }
    } else {
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port.bigEndian
      inet_pton(AF_INET, "127.0.0.1", &name.sin_addr)
      result = withUnsafeBytes(of: &name) {
        connect(
          number, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
      }
    }
    guard result == 0 else { throw SystemError.last("connect") }
    // A server that never answers fails the test instead of holding it up.
    try socket.setReceiveTimeout(30)
    try socket.setSendTimeout(30)
  }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try socket.send($0) }
  }

  /// Sends a request without a body and reads the answer.
  func ask(_ method: String, _ target: String, _ lines: String...) throws -> Answer {
    let fields = lines.map { $0 + "\r\n" }.joined()
    try send("\(method) \(target) HTTP/1.1\r\nHost: test\r\n\(fields)\r\n")
    return try readAnswer(hasBody: method != "HEAD")
  }

  func readAnswer(hasBody: Bool = true) throws -> Answer {
    var end = headEnd
    while end == nil {
      guard try fill() else { throw Ended() }
      end = headEnd
    }
    let head = String(decoding: received[..<(end ?? 0)], as: UTF8.self)
    received.removeSubrange(..<((end ?? 0) + 4))
    let lines = head.components(separatedBy: "\r\n")
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.components(separatedBy: ": ")
      fields[parts[0].lowercased()] = parts.dropFirst().joined(separator: ": ")
    }
    let status = Int(lines[0].components(separatedBy: " ")[1]) ?? 0
    let length = hasBody ? Int(fields["content-length"] ?? "0") ?? 0 : 0
    while received.count < length { guard try fill() else { throw Ended() } }
    let body = Array(received[..<length])
    received.removeSubrange(..<length)
    return Answer(status: status, head: head, fields: fields, body: body)
  }

  /// Everything until the server ends the connection.
  func readToEnd() throws -> [UInt8] {
    while try fill() {}
    defer { received = [] }
    return received
  }

  /// Waits until the server has begun to answer; reads only a beginning of it.
  func waitForInput() throws {
    guard try fill() else { throw Ended() }
  }

  /// Whether something is here to be read, without waiting for it.
  var hasInput: Bool {
    get throws {
      try socket.setReceiveTimeout(1e-6)
      defer { try? socket.setReceiveTimeout(30) }
      do throws(SystemError) {
        return try fill()
      } catch {
        guard error.isTimeout else { throw error }
        return false
      }
    }
  }

  private var headEnd: Int? {
    received.indices.first { received[$0...].starts(with: Array("\r\n\r\n".utf8)) }
  }

  private func fill() throws(SystemError) -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    let count = try socket.receive(into: buffer)
    received += buffer[..<count]
    return count > 0
  }
}
