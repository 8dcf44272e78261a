import Crypto
import Failure
import SignedNote

/// A signed head of a release log: the checkpoint as it came, and the trusted key that signed it.
package struct LogHead: Sendable, Hashable {
  /// The very bytes.
  package let note: [UInt8]
  package let checkpoint: Checkpoint
  package let key: NoteKey

  package init(_ note: [UInt8], keys: [NoteKey]) throws(FetchFailure) {
    let verified = try SignedNote(note).verify(keys)
    checkpoint = try Checkpoint(verified)
    (self.note, key) = (note, verified.signers[0])
  }

  package var size: Int64 { checkpoint.size }
  package var root: Digest { checkpoint.root }

  /// Whether both are heads of the same tree, whoever signed which bytes.
  package func isSame(as other: LogHead) -> Bool { size == other.size && root == other.root }

  /// The newest release of this log, where it has any.
  package var lastRelease: Int64 { size - 1 }
}

/// A head that was seen somewhere, kept to compare with.
package struct SeenHead: Sendable, Equatable {
  package enum Standing: String, Sendable {
    /// A prefix of the kept head, or the same.
    case proven
    /// Nobody has shown yet how it belongs to the kept head.
    case pending
  }

  package var head: LogHead
  package var standing: Standing
  /// Who showed it: a source, a file, a URL.
  package var peer: String
  package var firstSeen: Moment

  package init(_ head: LogHead, _ standing: Standing, peer: String, firstSeen: Moment) {
    (self.head, self.standing, self.peer, self.firstSeen) = (head, standing, peer, firstSeen)
  }
}
