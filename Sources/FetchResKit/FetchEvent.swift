import Download
import Failure

/// What happens during a pull. New events may be added: switch over it with a `default`.
public enum FetchEvent: Sendable {
  /// The manifest was verified; `release` is its place in the publisher's log, `size` is in bytes.
  case manifest(origin: String, version: String, release: Int64, size: Int64, blocks: Int64)
  /// Work begins or goes on; the version that is fetched, its bytes, and how many of them may be on
  /// disk already.
  case begin(version: String, size: Int64, claimed: Int64)
  /// How far it is: five times a second while blocks are missing, and once when none is.
  case progress(Progress)
  /// What the run does from now on, where that is not to fetch.
  case phase(Phase)
  /// A block did not verify: one from a source, or one that was on disk.
  case blockRejected(FetchFailure, wasOnDisk: Bool)
  /// A source failed; the run goes on.
  case sourceFailed(FetchFailure)
  /// Something is wrong about the publisher, or about all that this client is shown: raised once.
  /// `evidence` is the path of a file that proves it, where it can be proven.
  case alert(FailureCategory, message: String, evidence: String?)
  /// The number of alerts about the origin that nobody has acknowledged: said once at the end.
  case unacknowledgedAlerts(Int, origin: String)
  /// All sources that the data could come from, when no more will come.
  case sources([Source])
  /// Which way out the run takes (proxy, Tor, none), and why.
  case route(String)
  /// Something that the user should know, and what to do about it.
  case note(String, hint: String?)
  /// The last event of a ``Fetcher``'s pull that succeeded: the file is there.
  case complete(PullResult)

  /// Bytes, all of them verified.
  public struct Progress: Sendable, Equatable {
    /// The size of the resource.
    public var total: Int64
    /// What is verified by now, from wherever it came.
    public var verified: Int64
    /// Of those, what was on disk when the run began.
    public var resumed: Int64
    /// Of those, what was taken from other files on this disk, from equal blocks, or is zeros.
    public var reused: Int64
    /// Bytes a second from the network; nil while unknown.
    public var rate: Double?
    /// How many sources have a request under way.
    public var sources: Int
    /// What may be on disk, and is not hashed yet.
    public var unhashed: Int64 = 0
    /// Seconds until a source may be asked again; nil unless all are to be left alone.
    public var wait: Double?
    /// Nil unless the session was told that it is wanted.
    package var map: BlockMap?
  }

  /// What a run does while it does not fetch.
  public enum Phase: Sendable, Equatable {
    /// The manifest and the release log are asked for and checked.
    case checkingLog
    /// Every source is to be left alone for so many seconds.
    case waiting(seconds: Double)
    /// Tor is waited for, and is so far with its first circuits; nil where it does not tell.
    case startingTor(percent: Int?)
    /// Every block is verified: the version is being made available.
    case finishing
  }

  /// Who sent what in a run, and who was refused for what.
  public struct Source: Sendable, Equatable {
    /// The base URL, without secrets.
    public var url: String
    /// Verified bytes that came from it.
    public var bytes: Int64
    /// How often it failed, and how.
    public var refusals: [FailureCategory: Int]
  }
}

extension FetchEvent.Source {
  init(_ report: SourceReport) {
    self.init(url: report.name, bytes: report.bytes, refusals: report.refusals)
  }
}

extension FetchEvent.Progress {
  init(_ progress: DownloadProgress) {
    self.init(
      total: progress.total, verified: progress.verified, resumed: progress.resumed,
      reused: progress.reused, rate: progress.rate, sources: progress.sources)
    (unhashed, wait, map) = (progress.unhashed, progress.wait, progress.map)
  }
}
