import Failure
import SignedNote

/// Which witnesses count, and how many of them have to have cosigned a checkpoint.
package struct WitnessPolicy: Sendable, Hashable {
  /// Keys of cosignatures.
  package var witnesses: [NoteKey] = []
  /// 0 asks for none.
  package var quorum = 0

  package init(witnesses: [NoteKey] = [], quorum: Int = 0) {
    (self.witnesses, self.quorum) = (witnesses, quorum)
  }

  /// What the witnesses say about a checkpoint.
  package struct Count: Sendable, Hashable {
    /// Distinct public keys.
    package var keys: Int
    /// Seconds since 1970 of the newest counted cosignature.
    package var newest: Int64?

    package init(keys: Int, newest: Int64?) { (self.keys, self.newest) = (keys, newest) }
  }

  /// Counts the cosignatures of a checkpoint: distinct public keys, none of them a key of the log, at a
  /// time above 0 and not more than 24 h ahead.
  ///
  /// - Throws: `bad-signature` or `note-malformed` if a line of a known witness does not verify.
  package func count(
    _ bytes: [UInt8], logKeys: [NoteKey], wall: Int64
  ) throws(FetchFailure) -> Count {
    var keys: Set<[UInt8]> = []
    var newest: Int64?
    let note = try SignedNote(bytes)
    let counted = witnesses.filter { witness in
      !logKeys.contains { $0.publicKey == witness.publicKey }
    }
    for (witness, time) in try note.cosignatures(by: counted) {
      guard time > 0, time <= UInt64(max(0, wall + LogState.clockTolerance)) else { continue }
      keys.insert(witness.publicKey)
      newest = max(newest ?? 0, Int64(time))
    }
    return Count(keys: keys.count, newest: newest)
  }

  /// - Throws: `unknown-key` unless the quorum is reached.
  package func check(
    _ bytes: [UInt8], logKeys: [NoteKey], wall: Int64
  ) throws(FetchFailure) -> Count {
    let count = try count(bytes, logKeys: logKeys, wall: wall)
    guard count.keys >= quorum else {
      throw FetchFailure(
        .unknownKey,
        "the checkpoint is cosigned by \(count.keys) of the \(quorum) witnesses that the quorum asks "
          + "for",
        hint:
          "'fetchres trust list' shows the witnesses; 'fetchres trust quorum' changes the number")
    }
    return count
  }
}
