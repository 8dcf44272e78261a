import Glibc
import System

/// A network of one thread, with nothing in it: no route, no resolver.
enum Isolation {
  private static let unshare: (@convention(c) (Int32) -> Int32)? = {
    // A GNU extension, which the Glibc module does not show.
    guard let symbol = dlsym(nil, "unshare") else { return nil }
    return unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
  }()

  private static let newNetwork: Int32 = 0x4000_0000

  /// Runs `body` on a thread without a network; the threads that it starts have none either. Nil if the
  /// system does not allow it.
  static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result? {
    let result = Monitor<Result?>(nil)
    let thread = WorkThread("isolated") {
      guard unshare?(newNetwork) == 0 else { return }
      let value = body()
      result.change { $0 = value }
    }
    thread.join()
    return result.look { $0 }
  }

  /// The same with a loopback device that is up, and nothing else.
  static func runOnLoopback<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) -> Result? {
    run { raiseLoopback() && hasNothingElse ? body() : nil } ?? nil
  }

  /// Whether this thread sees the loopback device and no other.
  static var hasNothingElse: Bool {
    guard let text = try? Disk.read("/proc/thread-self/net/dev") else { return false }
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst(2)
    return lines.count == 1 && lines.allSatisfy { $0.drop { $0 == " " }.hasPrefix("lo:") }
  }

  private static func raiseLoopback() -> Bool {
    let number = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    guard number >= 0 else { return false }
    defer { close(number) }
    // A `struct ifreq`: 16 bytes of name, then the flags.
    var request = [UInt8](repeating: 0, count: 40)
    request.replaceSubrange(0..<2, with: Array("lo".utf8))
    let (getFlags, setFlags): (UInt, UInt) = (0x8913, 0x8914)
    return request.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress, ioctl(number, getFlags, base) == 0 else { return false }
      let flags = bytes.loadUnaligned(fromByteOffset: 16, as: Int16.self)
      bytes.storeBytes(of: flags | Int16(IFF_UP), toByteOffset: 16, as: Int16.self)
      return ioctl(number, setFlags, base) == 0
    }
  }

  static let isPossible = run { true } ?? false
}
