/// What to fetch, and how.
public struct PullRequest: Sendable {
  /// The URL of a manifest.
  public var url: String
  /// Where the resource lives; nil for the last component of its origin, in the working directory.
  public var directory: String?
  /// Where a copy of the finished file goes; `-` streams it to standard output.
  public var output: String?
  /// Public keys to trust for this run, as text.
  public var keys: [String] = []
  /// The origin that is expected; nil to find it out from the keys, the directory or the state.
  public var origin: String?
  /// Further places that have the same site: http or https URLs. They get no header lines, and need
  /// not be trusted more than any other.
  public var mirrors: [String] = []
  /// Gives each source one attempt at once, however long it was to be left alone after failures.
  public var asksAtOnce = false
  /// Local files that may hold blocks of the resource.
  public var reuse: [String] = []
  /// Uses the disk alone.
  public var offline = false
  public var onNewVersion = NewVersionPolicy.continue
  /// How many complete versions to keep; nil for all.
  public var keep: Int?

  /// At most so many at a time; as many are opened as make the whole faster.
  public var connections = 16
  /// Bytes for buffers and tiles.
  public var memory: Int64 = 64 << 20
  /// Bytes a second for the whole run; nil for no limit.
  public var rateLimit: Int64?
  /// Header lines for the manifest's own server.
  public var headers: [String] = []
  public var proxy = ProxySetting.environment
  /// Who chose that, for the words about it.
  public var proxyGrounds = ProxyGrounds()
  /// A file of certificates to trust instead of the system's.
  public var certificateFile: String?
  /// The client certificate to show, by the name it was imported under; nil for the one that is for
  /// the host of the URL, if there is one.
  public var identity: String?
  /// SHA-256 of public keys of the manifest's own server, in base64; it has to have one of them.
  public var pins: [String] = []
  /// Seconds.
  public var connectTimeout = 10.0
  /// Seconds.
  public var firstByteTimeout = 30.0
  /// A transfer below this many bytes a second over `stallWindow` seconds is given up.
  public var stallRate: Int64 = 1_024
  public var stallWindow = 20.0
  /// Seconds without a verified block after which the run ends.
  public var giveUpAfter = 600.0
  /// Seconds that the newest sign of life of the publisher may be old; nil for any age.
  public var maximumAge: Int64?
  /// Where this program keeps its own records; nil for the default of the environment.
  public var stateDirectory: String?

  /// What becomes of unfinished work on an older version when a newer one is there.
  public enum NewVersionPolicy: String, Sendable, CaseIterable {
    /// The older one is finished, and the run says that a newer one exists.
    case `continue`
    /// Exit code 8.
    case stop
    /// The newer one is begun.
    case `switch`
  }

  public init(url: String) { self.url = url }
}

/// What a pull ended with.
public struct PullResult: Sendable, Equatable {
  /// The finished file; nil if it was streamed.
  public var path: String?
  public var origin: String
  public var version: String
  public var release: Int64
  /// Bytes.
  public var size: Int64
  /// Bytes that came from the network in this run.
  public var fetched: Int64
  /// Bytes that were taken from other files on this disk, from equal blocks, or are zeros.
  public var reused: Int64
  /// The newest version, if this is an older one.
  public var newerVersion: String?
}
