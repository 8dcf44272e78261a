/// What to fetch, and how. Only `url` has to be said, and a key until one is trusted.
public struct PullRequest: Sendable {
  /// The URL of a manifest, http or https. One that ends in `/releases/<version>/manifest` pins that
  /// version; to one that ends in `/` the word `manifest` is added.
  public var url: String
  /// Public keys to trust for this run, each the line that `fetchres keygen` printed, all of one
  /// origin. Empty for those that `fetchres trust add` has made known.
  public var keys: [String]
  /// The origin that is expected; nil for that of the keys, or what the directory or an earlier pull
  /// from this URL tells.
  public var origin: String?

  // MARK: Where from

  /// Further places that have the same site: http or https URLs. They get no header lines, and need
  /// not be trusted more than any other.
  public var mirrors: [String] = []
  /// Paths of files on this machine that may hold blocks of the resource: what verifies is not fetched.
  public var reuse: [String] = []
  /// Uses the disk alone: the version that is available, if its signature holds under the keys of now.
  public var offline = false

  // MARK: Which version

  /// What becomes of unfinished work on an older version.
  public var onNewVersion = NewVersionPolicy.continue
  /// How many complete versions to keep, 1 or more; nil for all.
  public var keep: Int?
  /// How old, in seconds, the newest sign of life of the publisher may be; nil for any age.
  public var maximumAge: Int64?

  // MARK: What it may cost

  /// At most so many connections, 1 or more; as many are opened as make the whole faster.
  public var connections = 16
  /// Bytes for buffers and tiles. Two blocks and 8 MiB are taken if that is more.
  public var memory: Int64 = 64 << 20
  /// Bytes a second for the whole run; nil for no limit.
  public var rateLimit: Int64?

  // MARK: The network

  /// The way out of this machine.
  public var proxy = ProxySetting.environment
  /// Who chose that, for the words about it.
  package var proxyGrounds = ProxyGrounds()
  /// Header lines (`Name: value`) for the manifest's own server; no other source gets them.
  public var headers: [String] = []
  /// A file of certificates (PEM) to trust instead of the system's.
  public var certificateFile: String?
  /// SHA-256 of public keys of the manifest's own server, in base64; it has to have one of them.
  public var pins: [String] = []

  // MARK: Patience

  /// Seconds for a connection, the TLS handshake included.
  public var connectTimeout = 10.0
  /// Seconds from the request to the first byte of the answer.
  public var firstByteTimeout = 30.0
  /// A transfer below this many bytes a second over `stallWindow` is given up; another one takes over.
  public var stallRate: Int64 = 1_024
  /// Seconds.
  public var stallWindow = 20.0
  /// Seconds without a verified block after which the run ends.
  public var giveUpAfter = 600.0

  // MARK: What the command line alone has

  /// Where the resource lives; nil for the last component of its origin, in the working directory.
  package var directory: String?
  /// Where this program keeps its own records; nil for the default of the environment.
  package var stateDirectory: String?
  /// Where a copy of the finished file goes; `-` streams it to standard output.
  package var output: String?
  /// Gives each source one attempt at once, however long it was to be left alone after failures.
  package var asksAtOnce = false
  /// The client certificate to show, by the name it was imported under; nil for the one that is for
  /// the host of the URL, if there is one.
  package var identity: String?

  /// What becomes of unfinished work on an older version when a newer one is there.
  public enum NewVersionPolicy: String, Sendable, CaseIterable {
    /// The older one is finished, and ``PullResult/newerVersion`` names the newer.
    case `continue`
    /// The run ends with `new-version`, everything kept.
    case stop
    /// The newer one is begun; what both share is not fetched again.
    case `switch`
  }

  /// A request for the newest version, with everything else as it usually is.
  ///
  /// - Parameters:
  ///   - url: that of a manifest; see ``url``.
  ///   - keys: public keys; see ``keys``.
  public init(url: String, keys: [String] = []) { (self.url, self.keys) = (url, keys) }
}
