import Download
import Failure
import FetchResKit
import Storage
import System
import TestSupport

/// Somebody who pulls into `/data`, with the state in `/state`, over a file system that may end.
struct Client {
  let fileSystem: any FileSystem
  let key: String

  /// Pulls once.
  ///
  /// - Parameter interruptsAfter: that many pieces of bodies, the pull is interrupted, as by Ctrl-C.
  @discardableResult
  func pull(
    _ releases: ServedReleases, interruptsAfter limit: Int? = nil,
    change: (inout PullRequest) -> Void = { _ in }
  ) throws(FetchFailure) -> PullResult {
    var request = PullRequest(url: "\(MemoryTransport.base.text)manifest")
    request.directory = "/data"
    request.stateDirectory = "/state"
    request.keys = [key]
    request.memory = 1
    request.connections = 2
    change(&request)
    let interruption = Interruption()
    let pieces = Monitor(0)
    let transport = MemoryTransport(releases.files, pieceSize: 5_000) {
      let count = pieces.change { pieces in
        pieces += 1
        return pieces
      }
      if count == limit { interruption.raise(Interruption.interrupt) }
    }
    // The clock stands still, so that equal runs leave equal records.
    return try PullSession(
      request, fileSystem: fileSystem, transport: transport, interruption: interruption,
      now: { UTCDate(seconds: 1_800_000_100) }
    ) { _ in }.run()
  }
}
