import Failure

/// What happens during a pull.
public enum FetchEvent: Sendable {
  /// The manifest was verified.
  case manifest(origin: String, version: String, release: Int64, size: Int64, blocks: Int64)
  /// Work begins or goes on; the release that is fetched and how much of it may be on disk already.
  case begin(version: String, size: Int64, claimed: Int64)
  case progress(Progress)
  /// A block did not verify: one from a source, or one that was on disk.
  case blockRejected(FetchFailure, wasOnDisk: Bool)
  /// A source failed; the run goes on.
  case sourceFailed(FetchFailure)
  /// Something is wrong about the publisher, or about all that this client is shown: raised once.
  case alert(FailureCategory, message: String, evidence: String?)
  /// The number of alerts about the origin that nobody has acknowledged: said once at the end.
  case unacknowledgedAlerts(Int, origin: String)
  /// Something that the user should know.
  case note(String, hint: String?)

  /// Bytes, all of them verified.
  public struct Progress: Sendable, Equatable {
    public var total: Int64
    public var verified: Int64
    /// Of those, what was on disk when the run began.
    public var resumed: Int64
    /// Of those, what was taken from other files on this disk, from equal blocks, or is zeros.
    public var reused: Int64
    /// Bytes a second from the network; nil while unknown.
    public var rate: Double?
  }
}
