import Failure

/// A SHA-256 value: 32 bytes, kept as four words so that it is cheap to copy, compare and hash.
public struct Digest: Sendable, Hashable {
  private var words: (UInt64, UInt64, UInt64, UInt64)

  public static let byteCount = 32

  /// The SHA-256 of nothing, and by definition the root of an empty tree.
  public static let empty = SHA256.digest([])

  /// Takes exactly 32 bytes; nil for any other number.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    words = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
  }

  /// Takes exactly 32 bytes.
  public init(copying bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count == Self.byteCount, "Crypto: a digest is 32 bytes")
    words = bytes.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self)
  }

  /// Fills the 32 bytes from C code.
  init(filling body: (UnsafeMutableRawBufferPointer) -> Void) {
    words = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words, body)
  }

  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(of: words, body)
  }

  public var bytes: [UInt8] { withBytes { Array($0) } }

  public static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }

  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Digest: CustomStringConvertible {
  /// 64 lower-case hex digits.
  public var description: String { Hex.encode(bytes) }
}
