import Failure
import Manifest
import ReleaseLog
import SignedNote

/// A manifest whose signature, origin and form are good.
struct AcceptedManifest: Sendable {
  var manifest: Manifest
  var note: [UInt8]
  /// The newest version, where the URL pins another one.
  var newerVersion: String?
  /// It cannot be earlier than this: a newer release is known.
  var earliest: UTCDate?

  /// One that the release log vouches for.
  init(_ verdict: LogMonitor.Verdict, wall: UTCDate) {
    (manifest, note) = (verdict.release.manifest, verdict.release.note)
    let newest = verdict.newest.manifest.version
    newerVersion = newest == manifest.version ? nil : newest
    earliest = verdict.state.now(wall: wall.seconds)
  }

  /// Judges the bytes of a manifest, wherever they came from.
  ///
  /// - Throws: `note-malformed`, `unknown-key`, `bad-signature`, `manifest-malformed`,
  ///   `origin-mismatch`.
  init(_ bytes: [UInt8], _ expected: ExpectedOrigin) throws(FetchFailure) {
    let verified = try SignedNote(bytes).verify(expected.keys)
    manifest = try Manifest(verified)
    guard manifest.origin == expected.origin else {
      throw FetchFailure(
        .originMismatch, "the manifest is that of \(manifest.origin), not of \(expected.origin)")
    }
    note = bytes
  }

  /// - Throws: `expired`, naming the local clock.
  func checkExpiry(now: UTCDate) throws(FetchFailure) {
    guard let expires = manifest.expires, max(now, earliest ?? now) >= expires else { return }
    throw FetchFailure(
      .expired,
      "the manifest of version \(manifest.version) expired at \(expires.text); "
        + "the local clock says \(now.text)",
      hint: "if the clock is right, ask the publisher for a new release")
  }
}
