import Failure

/// What other threads tell the curl thread.
struct CurlMailbox: Sendable {
  var starts: [(TransferID, Request, any ResponseReceiver)] = []
  var cancels: [TransferID] = []
  var resumes = false
  /// Whether this machine is cut off from the host that a transfer did not reach.
  var looks: [(TransferID, isCutOff: Bool)] = []
  var stops = false
  /// What transfers that run then finish with.
  var stopReason = FetchFailure(.interrupted, "the transport stopped")
  /// Whether the multi handle is gone.
  var isClosed = false

  /// What is there now; afterwards there is nothing but how things stand.
  mutating func take() -> CurlMailbox {
    defer {
      (starts, cancels, looks) = ([], [], [])
      resumes = false
    }
    return self
  }
}
