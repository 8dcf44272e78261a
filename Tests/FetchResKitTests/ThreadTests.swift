import Glibc
import System
import Testing

/// What a thread of ours does to the process that it lives in.
@Suite struct ThreadTests {
  @Test("a peer that has gone does not end an app: threads that send hold its signal back")
  func brokenPipe() {
    let isBlocked = Monitor<Bool?>(nil)
    WorkThread("test") {
      var set = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &set)
      let found = sigismember(&set, SIGPIPE) == 1
      isBlocked.change { $0 = found }
    }.join()
    #expect(isBlocked.look { $0 } == true)
  }
}
