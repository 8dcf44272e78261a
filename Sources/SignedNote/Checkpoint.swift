import Crypto
import Failure

/// The head of a log (C2SP tlog-checkpoint): exactly three lines, origin, size and root.
public struct Checkpoint: Sendable, Hashable {
  public let origin: Origin
  /// The number of entries, 0 to 2^63-1.
  public let size: Int64
  public let root: Digest

  /// The largest note of a checkpoint that is read: 64 KiB.
  public static let maximumByteCount = 65_536

  public init(origin: Origin, size: Int64, root: Digest) {
    (self.origin, self.size, self.root) = (origin, size, root)
  }

  /// Parses the text of a verified note.
  ///
  /// - Throws: `note-malformed` naming the line.
  public init(_ note: VerifiedNote) throws(FetchFailure) {
    let lines = note.lines
    func malformed(_ line: Int, _ what: String) -> FetchFailure {
      FetchFailure(.noteMalformed, "not a checkpoint: line \(line) \(what)")
    }
    guard lines.count == 3 else {
      throw FetchFailure(.noteMalformed, "not a checkpoint: \(lines.count) lines instead of 3")
    }
    guard let origin = Origin(lines[0]) else { throw malformed(1, "is no origin") }
    guard let size = Decimal.decode(lines[1]) else { throw malformed(2, "is no size") }
    guard let root = Base64.decode(lines[2]).flatMap({ Digest($0) }) else {
      throw malformed(3, "is no root")
    }
    guard (size == 0) == (root == .empty) else {
      throw malformed(3, "is not the root of a log of size \(size)")
    }
    self.init(origin: origin, size: size, root: root)
  }

  /// The text of the note.
  public var text: String { "\(origin)\n\(size)\n\(Base64.encode(root.bytes))\n" }
}
