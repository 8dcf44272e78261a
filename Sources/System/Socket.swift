import CSystem
import Glibc

/// A TCP socket: one that listens, or one end of a connection. Closed when the last reference goes.
///
/// Any thread may call ``shutdown()`` while another one waits in a call on the same socket.
package struct Socket: Sendable {
  private let descriptor: Descriptor

  package init(owning descriptor: Descriptor) { self.descriptor = descriptor }

  // MARK: Listening

  /// Binds and listens. Port 0 picks a free port; see ``localAddress()``.
  package static func listen(on address: SocketAddress) throws(SystemError) -> Socket {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = Socket(
      owning: Descriptor(
        owning: try retryingInterrupts("socket") { Glibc.socket(address.systemFamily, kind, 0) }))
    // A server that was just stopped leaves connections behind that would hold its port for a while.
    try socket.set(SOL_SOCKET, SO_REUSEADDR, Int32(1))
    _ = try retryingInterrupts("bind", path: address.text) {
      address.withSystemAddress { bind(socket.descriptor.number, $0, $1) }
    }
    _ = try retryingInterrupts("listen", path: address.text) {
      Glibc.listen(socket.descriptor.number, SOMAXCONN)
    }
    return socket
  }

  /// The address that this socket is bound to.
  package func localAddress() throws(SystemError) -> SocketAddress {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    _ = try retryingInterrupts("getsockname") {
      withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          getsockname(descriptor.number, $0, &size)
        }
      }
    }
    guard let address = SocketAddress(storage) else {
      throw SystemError(EAFNOSUPPORT, "getsockname")
    }
    return address
  }

  /// Waits for the next connection. Throws once the socket is shut down.
  package func accept() throws(SystemError) -> Socket {
    Socket(
      owning: Descriptor(
        owning: try retryingInterrupts("accept") { fetchres_accept(descriptor.number) }))
  }

  // MARK: Bytes

  /// Sends all of `bytes`.
  ///
  /// - Parameter isFollowed: more is sent at once, so a packet that is not full may wait for it.
  package func send(
    _ bytes: UnsafeRawBufferPointer, isFollowed: Bool = false
  ) throws(SystemError) {
    let flags = Int32(MSG_NOSIGNAL) | (isFollowed ? Int32(MSG_MORE) : 0)
    var done = 0
    while done < bytes.count {
      done += try retryingInterrupts("send") {
        Glibc.send(descriptor.number, bytes.baseAddress! + done, bytes.count - done, flags)
      }
    }
  }

  /// Sends bytes of a file without copying them through this process.
  ///
  /// The thread must have called ``Signals/holdBackThoseOfCalls()``.
  /// - Throws: `unexpectedEnd` if the file ends before the range does.
  package func sendFile(_ file: Descriptor, _ range: Range<Int64>) throws(SystemError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let length = min(range.upperBound - offset, 1 << 30)
      let count = try retryingInterrupts("sendfile") {
        fetchres_send_file(descriptor.number, file.number, &offset, length)
      }
      if count == 0 { throw SystemError(SystemError.unexpectedEnd, "sendfile") }
    }
  }

  /// Waits for bytes and takes what is there, up to the size of `buffer`; 0 once the peer has sent
  /// its last.
  package func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try retryingInterrupts("recv") { recv(descriptor.number, buffer.baseAddress, buffer.count, 0) }
  }

  // MARK: The end

  /// Waits until the peer has sent its last, or either end has ended the connection, and reads nothing;
  /// false when the time is over before.
  package func waitForEnd(within seconds: Double) -> Bool {
    let end = Clocks.monotonic() + seconds
    while true {
      let left = end - Clocks.monotonic()
      if left <= 0 { return false }
      let result = fetchres_wait_for_hangup(
        descriptor.number, Int32(min(max((left * 1e3).rounded(.up), 1), 1e9)))
      if result != 0, result != -1 || errno != EINTR { return true }
    }
  }

  /// Ends both directions: whoever waits in a call on this socket returns from it.
  package func shutdown() { _ = Glibc.shutdown(descriptor.number, Int32(SHUT_RDWR)) }

  /// Tells the peer that nothing more is sent, once it has received what is under way.
  package func finishSending() { _ = Glibc.shutdown(descriptor.number, Int32(SHUT_WR)) }

  /// Makes the coming close a reset (RST) that throws away what is under way.
  package func resetOnClose() throws(SystemError) {
    try set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
  }

  // MARK: Options

  /// Sends small packets at once instead of gathering them (Nagle).
  package func sendAtOnce() throws(SystemError) {
    try set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
  }

  /// How many bytes that the peer has not taken the system keeps. It doubles and rounds the number.
  package func setSendBuffer(_ bytes: Int) throws(SystemError) {
    try set(SOL_SOCKET, SO_SNDBUF, Int32(clamping: bytes))
  }

  /// How many seconds ``receive(into:)`` waits for a byte before it throws a timeout.
  package func setReceiveTimeout(_ seconds: Double) throws(SystemError) {
    try set(SOL_SOCKET, SO_RCVTIMEO, Self.time(seconds))
  }

  /// How many seconds a peer may take no byte before sending throws a timeout.
  package func setSendTimeout(_ seconds: Double) throws(SystemError) {
    try set(SOL_SOCKET, SO_SNDTIMEO, Self.time(seconds))
  }

  /// Zero would mean to wait for ever.
  private static func time(_ seconds: Double) -> timeval {
    let microseconds = Int(min(max(seconds * 1e6, 1), 1e15))
    return timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
  }

  private func set(
    _ level: Int32, _ option: Int32, _ value: some BitwiseCopyable
  ) throws(SystemError) {
    _ = try retryingInterrupts("setsockopt") {
      withUnsafeBytes(of: value) {
        setsockopt(descriptor.number, level, option, $0.baseAddress, socklen_t($0.count))
      }
    }
  }
}

extension SystemError {
  package static let addressInUse = EADDRINUSE
  package static let addressNotHere = EADDRNOTAVAIL
  package static let connectionReset = ECONNRESET
  package static let connectionAborted = ECONNABORTED
  package static let unexpectedEnd = ENODATA
  package static let nameTooLong = ENAMETOOLONG
  package static let noDevice = ENXIO

  /// Whether a peer let the time run out that ``Socket`` gives it.
  package var isTimeout: Bool { code == EAGAIN || code == EWOULDBLOCK }
}
