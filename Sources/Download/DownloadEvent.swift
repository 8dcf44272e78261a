import Failure
import Transport

/// A place that may have the resource: a site, or a mirror of it.
package struct DownloadSource: Sendable {
  package var base: WebURL
  package var seed: SourceSeed

  package init(_ base: WebURL, _ seed: SourceSeed) { (self.base, self.seed) = (base, seed) }
}

/// How the list of sources changes while a download runs.
package struct DownloadSourceChange: Sendable {
  /// Come at the end of the list.
  package var added: [DownloadSource] = []
  /// Places in the list.
  package var removed: [SourceID] = []

  package init() {}
}

/// What a run may use.
package struct DownloadLimits: Sendable {
  package var connections = 16
  /// Bytes for buffers and tiles.
  package var memory: Int64 = 64 << 20
  package var retry = RetryPolicy()

  package init() {}
}

/// How far a download is. Byte counts are of verified bytes.
package struct DownloadProgress: Sendable, Equatable {
  package var total: Int64
  package var verified: Int64
  /// Of those, what was already on disk when the run began.
  package var resumed: Int64
  /// Of those, what was taken from other files on this disk, from equal blocks, or is zeros.
  package var reused: Int64
  /// Bytes a second from the network over the last seconds; nil while unknown.
  package var rate: Double?
  /// How many sources have a request under way.
  package var sources: Int
  /// What may be on disk, and is not hashed yet.
  package var unhashed: Int64 = 0
  /// Seconds until a source may be asked again; nil unless all are to be left alone.
  package var wait: Double?
  /// Nil unless somebody wants to see it.
  package var map: BlockMap?

  package init(
    total: Int64 = 0, verified: Int64 = 0, resumed: Int64 = 0, reused: Int64 = 0,
    rate: Double? = nil, sources: Int = 0
  ) {
    self.total = total
    self.verified = verified
    self.resumed = resumed
    self.reused = reused
    self.rate = rate
    self.sources = sources
  }
}

package enum DownloadEvent: Sendable {
  case progress(DownloadProgress)
  /// A block from the source did not verify, or one that was on disk no longer does.
  case blockRejected(FetchFailure, wasOnDisk: Bool)
  case sourceFailed(FetchFailure)
  /// What has to be kept of a source for later runs.
  case record(SourceID, SourceRecord)
}
