import Failure
import SignedNote

extension Manifest {
  /// A manifest out of a note that lies on our own disk, checked against the key that it names
  /// itself: intact and of one piece, but nobody has said that the key is to be trusted.
  ///
  /// - Throws: `note-malformed`, `manifest-malformed`, `bad-signature`, `unknown-key`.
  public init(selfSigned bytes: [UInt8]) throws(FetchFailure) {
    let note = try SignedNote(bytes)
    guard let key = note.unverifiedKeys.first else {
      throw FetchFailure(.manifestMalformed, "the manifest names no key")
    }
    try self.init(try note.verify([key]))
  }
}
