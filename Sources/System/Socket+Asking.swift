import Glibc

/// The end of a connection that asks.
extension Socket {
  /// Connects; a peer that does not answer within the time is `ETIMEDOUT` or `EINPROGRESS`.
  package static func connect(
    to address: SocketAddress, within seconds: Double
  ) throws(SystemError) -> Socket {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = Descriptor(
      owning: try retryingInterrupts("socket") { Glibc.socket(address.systemFamily, kind, 0) })
    let socket = Socket(owning: descriptor)
    // On Linux this bounds connecting, too.
    try socket.setSendTimeout(seconds)
    let result = address.withSystemAddress { Glibc.connect(descriptor.number, $0, $1) }
    if result != 0 { throw .last("connect", path: address.text) }
    return socket
  }

  /// Sends all of them.
  package func send(all bytes: [UInt8]) throws(SystemError) {
    let result: Result<Void, SystemError> = bytes.withUnsafeBytes { bytes in
      do throws(SystemError) { return .success(try send(bytes)) } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Waits for bytes and appends what is there, a few at most; 0 once the peer has sent its last.
  package func receive(appendingTo bytes: inout [UInt8]) throws(SystemError) -> Int {
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let result: Result<Int, SystemError> = buffer.withUnsafeMutableBytes { buffer in
      do throws(SystemError) { return .success(try receive(into: buffer)) } catch {
        return .failure(error)
      }
    }
    let count = try result.get()
    bytes += buffer[..<count]
    return count
  }
}
