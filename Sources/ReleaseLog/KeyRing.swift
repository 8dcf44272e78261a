import Crypto
import Failure
import Manifest
import SignedNote

/// Which keys count for an origin in a run, and what a note is under them.
///
/// Trusted are the keys that a user named. A key that a trusted one announced, in a manifest that was
/// verified and kept, follows it: then the old one signs no later releases.
package struct KeyRing: Sendable {
  package let origin: Origin
  /// Trusted keys first, then those that follow them.
  package let keys: [NoteKey]
  private let successions: [LogState.Succession]
  /// The newest manifest that was kept, if a key of this run signed it.
  private let kept: Manifest?

  package init(trusted: [NoteKey], _ state: LogState) {
    origin = state.origin
    var keys = trusted
    // A successor counts as long as the key that announced it does.
    var rest = state.successions
    while let index = rest.firstIndex(where: { keys.contains($0.predecessor) }) {
      let key = rest.remove(at: index).key
      if !keys.contains(key) { keys.append(key) }
    }
    self.keys = keys
    successions = state.successions.filter { keys.contains($0.predecessor) }
    kept = state.newest.flatMap { Self.isSigned($0.note, byOneOf: keys) ? $0.manifest : nil }
  }

  /// The first release that `key` may not sign any more; nil if it may sign all.
  package func end(of key: NoteKey) -> Int64? {
    successions.first { $0.predecessor == key }?.since
  }

  /// What a manifest is.
  package enum Judgement {
    case accepted(Manifest)
    /// Signed by the key that the kept manifest announced.
    case successor(Manifest)
    /// Signed, by its own key, by one that may have been announced in releases that were missed.
    case distant(Manifest)

    package var manifest: Manifest {
      switch self {
      case .accepted(let manifest), .successor(let manifest), .distant(let manifest): manifest
      }
    }
  }

  /// Judges the bytes of a manifest.
  ///
  /// - Throws: `note-malformed`, `bad-signature`, `unknown-key`, `manifest-malformed`,
  ///   `origin-mismatch`; `key-change` for a key that should not have signed it.
  package func judge(_ bytes: [UInt8]) throws(FetchFailure) -> Judgement {
    let note = try SignedNote(bytes)
    do throws(FetchFailure) {
      let manifest = try checked(try note.verify(keys))
      try checkAnnouncement(manifest)
      // What is older than the kept manifest installs nothing: the log holds it already, or it is
      // refused.
      guard let kept, manifest.key != kept.key, manifest.release > kept.release else {
        return .accepted(manifest)
      }
      // A co-signature by a key of this run installs no other key.
      guard keys.contains(manifest.key) else { return try follow(manifest, after: kept) }
      return takesOver(manifest, from: kept) ? .successor(manifest) : .accepted(manifest)
    } catch {
      guard error.category == .unknownKey, let kept, keys.contains(kept.key),
        let key = note.unverifiedKeys.first, key.origin == origin, !keys.contains(key)
      else { throw error }
      // Signed by a key that nobody named, where a key of this run has signed before.
      return try follow(try checked(try note.verify([key])), after: kept)
    }
  }

  /// Whether a key that the user named himself now follows the kept one, which had announced it.
  private func takesOver(_ manifest: Manifest, from kept: Manifest) -> Bool {
    keys.contains(kept.key) && end(of: kept.key) == nil && manifest.since > kept.release
      && kept.nextKey == Self.digest(of: manifest.key)
  }

  /// What a later release is whose key is none of this run.
  private func follow(
    _ manifest: Manifest, after kept: Manifest
  ) throws(FetchFailure) -> Judgement {
    guard manifest.since > kept.release, let next = kept.nextKey else {
      throw change(to: manifest, after: kept)
    }
    guard next == Self.digest(of: manifest.key) else { return .distant(manifest) }
    // Where the kept one counts for its co-signature alone, so does this.
    return keys.contains(kept.key) ? .successor(manifest) : .accepted(manifest)
  }

  private func checked(_ note: VerifiedNote) throws(FetchFailure) -> Manifest {
    let manifest = try Manifest(note)
    guard manifest.origin == origin else {
      throw FetchFailure(
        .originMismatch, "the manifest is that of \(manifest.origin), not of \(origin)")
    }
    return manifest
  }

  /// As long as a key signs, it announces the same successor, and since when it signs; behind that, it
  /// signs nothing.
  private func checkAnnouncement(_ manifest: Manifest) throws(FetchFailure) {
    if let end = end(of: manifest.key), manifest.release >= end {
      throw FetchFailure(
        .keyChange,
        "release \(manifest.release) is signed by \(manifest.key), which was followed by another "
          + "key from release \(end) on")
    }
    guard let kept, kept.key == manifest.key else { return }
    guard kept.nextKey == manifest.nextKey, kept.since == manifest.since else {
      throw FetchFailure(
        .keyChange,
        "release \(manifest.release) announces another next key of \(manifest.key) than release "
          + "\(kept.release) did, and that may never change",
        hint: "ask the publisher, by another way, whether the key was stolen")
    }
  }

  package func change(to manifest: Manifest, after kept: Manifest) -> FetchFailure {
    FetchFailure(
      .keyChange,
      "release \(manifest.release) is signed by \(manifest.key), which \(kept.key) never announced",
      hint:
        "ask the publisher, by another way; if the key is right: fetchres trust add \(manifest.key)"
    )
  }

  /// Judges the bytes of a checkpoint under the keys of this run, or under one that a manifest showed.
  ///
  /// - Throws: `note-malformed`, `bad-signature`, `unknown-key`, `origin-mismatch`, `key-change`.
  package func head(_ bytes: [UInt8], alsoBy key: NoteKey? = nil) throws(FetchFailure) -> LogHead {
    let all = keys + (key.map { keys.contains($0) ? [] : [$0] } ?? [])
    let signers = try SignedNote(bytes).verify(all).signers
    // One that may still sign, where there is one.
    let signer =
      signers.first { end(of: $0) == nil } ?? signers.last ?? all[0]
    let head = try LogHead(bytes, keys: [signer])
    guard head.checkpoint.origin == origin else {
      throw FetchFailure(
        .originMismatch,
        "the checkpoint is that of \(head.checkpoint.origin), not of \(origin)")
    }
    if let end = end(of: signer), head.size > end {
      throw FetchFailure(
        .keyChange,
        "the checkpoint of \(head.size) releases is signed by \(signer), which was followed by "
          + "another key from release \(end) on")
    }
    return head
  }

  /// Whether a key of this run signed the head.
  package func signed(_ head: LogHead) -> Bool {
    Self.isSigned(head.note, byOneOf: keys)
  }

  private static func isSigned(_ bytes: [UInt8], byOneOf keys: [NoteKey]) -> Bool {
    guard let note = try? SignedNote(bytes) else { return false }
    return keys.contains { note.isSigned(by: $0) }
  }

  package static func digest(of key: NoteKey) -> Digest {
    SHA256.digest(Array(key.description.utf8))
  }
}
