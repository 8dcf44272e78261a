import Crypto
import Failure
import MerkleTree
import SignedNote

/// The signed facts about one release of a resource (`fetchres manifest v1`).
public struct Manifest: Sendable, Hashable {
  public var origin: Origin
  public var version: String
  /// The index of this manifest in the release log.
  public var release: Int64
  public var layout: BlockLayout
  public var root: Digest
  public var file: String
  public var published: UTCDate
  public var expires: UTCDate?
  /// The key that signs this release.
  public var key: NoteKey
  /// The first release that this key signed.
  public var since: Int64
  /// The SHA-256 of the text of the public key that will follow `key`.
  public var nextKey: Digest?
  /// 0 to 8 bases that serve the same site.
  public var mirrors: [String]
  /// 0 to 32 lines that change nothing about how bytes are verified.
  public var extensions: [Extension]

  public struct Extension: Sendable, Hashable {
    /// Begins with `x-`.
    public var name: String
    public var value: String

    public init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  public static let maximumByteCount = 65_535
  package static let maximumMirrors = 8
  static let maximumExtensions = 32

  public init(
    origin: Origin, version: String, release: Int64, layout: BlockLayout, root: Digest,
    file: String, published: UTCDate, expires: UTCDate? = nil, key: NoteKey, since: Int64,
    nextKey: Digest? = nil, mirrors: [String] = [], extensions: [Extension] = []
  ) {
    self.origin = origin
    self.version = version
    self.release = release
    self.layout = layout
    self.root = root
    self.file = file
    self.published = published
    self.expires = expires
    self.key = key
    self.since = since
    self.nextKey = nextKey
    self.mirrors = mirrors
    self.extensions = extensions
  }

  /// Whether this is the same resource content: only the release, its dates and keys may differ.
  public func hasSameContent(as other: Manifest) -> Bool {
    origin == other.origin && version == other.version && layout == other.layout
      && root == other.root && file == other.file
  }

  // MARK: Names

  /// A version or file name: 1 to 128 of `A-Z a-z 0-9 . _ + -`, not beginning with `.` or `-`.
  static func isName(_ name: some StringProtocol) -> Bool {
    guard (1...128).contains(name.utf8.count), let first = name.utf8.first,
      first != UInt8(ascii: "."), first != UInt8(ascii: "-")
    else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "._+-".utf8.contains(byte)
      }
    }
  }

  /// Whether `name` may be a version: a name that is not `current` in any case.
  public static func isVersion(_ name: some StringProtocol) -> Bool {
    isName(name) && name.lowercased() != "current"
  }

  /// Whether `name` may be the file: a name that is not `manifest`, `complete` or `tile` in any case.
  public static func isFile(_ name: some StringProtocol) -> Bool {
    isName(name) && !["manifest", "complete", "tile"].contains(name.lowercased())
  }
}
