import Glibc
import System
import Testing

/// What a thread of ours does to the process that it lives in.
@Suite struct ThreadTests {
  @Test(
    "a peer that has gone, or a file that may not grow, does not end an app: threads hold that back",
    arguments: [SIGPIPE, SIGXFSZ])
  func heldBack(_ signal: Int32) {
    // The thread that runs a test may hold it back already, and hand that down.
    var (set, old) = (sigset_t(), sigset_t())
    sigemptyset(&set)
    sigaddset(&set, signal)
    pthread_sigmask(SIG_UNBLOCK, &set, &old)
    defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
    let isBlocked = Monitor<Bool?>(nil)
    WorkThread("test") {
      var set = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &set)
      let found = sigismember(&set, signal) == 1
      isBlocked.change { $0 = found }
    }.join()
    #expect(isBlocked.look { $0 } == true)
  }
}
