import Download

/// A version that is whole and verified, and what it took to get it.
public struct PullResult: Sendable, Equatable {
  /// The finished file, below the directory of the resource as that was written.
  public var path: String
  /// The identity of the resource, as signed.
  public var origin: String
  /// The name of the version, as signed. Names are not ordered.
  public var version: String
  /// The place of the release in the publisher's log, from 0 on: a higher one is newer.
  public var release: Int64
  /// Bytes.
  public var size: Int64
  /// Bytes that came from the network in this run.
  public var fetched: Int64 = 0
  /// Bytes that were taken from other files on this disk, from equal blocks, or are zeros.
  public var reused: Int64 = 0
  /// The newest version, if this is an older one.
  public var newerVersion: String?

  init(_ complete: CompletedVersion, path: String) {
    let manifest = complete.manifest
    self.path = path
    (origin, version) = (manifest.origin.name, manifest.version)
    (release, size) = (manifest.release, manifest.layout.size)
  }
}
