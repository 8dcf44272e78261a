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

  @discardableResult
  func pull(
    _ releases: ServedReleases, change: (inout PullRequest) -> Void = { _ in }
  ) throws(FetchFailure) -> PullResult {
    var request = PullRequest(url: "\(MemoryTransport.base.text)manifest")
    request.directory = "/data"
    request.stateDirectory = "/state"
    request.keys = [key]
    request.memory = 1
    request.connections = 2
    change(&request)
    let transport = MemoryTransport(releases.files, pieceSize: 5_000)
    // The clock stands still, so that equal runs leave equal records.
    return try PullSession(
      request, fileSystem: fileSystem, transport: transport, interruption: Interruption(),
      now: { UTCDate(seconds: 1_800_000_100) }
    ) { _ in }.run()
  }
}
