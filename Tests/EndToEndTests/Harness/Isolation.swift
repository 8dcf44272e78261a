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

  static let isPossible = run { true } ?? false
}
