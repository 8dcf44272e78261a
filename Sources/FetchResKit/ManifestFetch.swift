import Download
import Failure
import Manifest
import SignedNote
import System
import Transport

/// A manifest whose signature, origin and form are good.
struct AcceptedManifest: Sendable {
  var manifest: Manifest
  var note: [UInt8]

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
    guard let expires = manifest.expires, now >= expires else { return }
    throw FetchFailure(
      .expired,
      "the manifest of version \(manifest.version) expired at \(expires.text); "
        + "the local clock says \(now.text)",
      hint: "if the clock is right, ask the publisher for a new release")
  }
}

/// Asks for the manifest until it is there or the time is over.
struct ManifestFetch {
  let transport: any Transport
  let retry: RetryPolicy
  let interruption: Interruption
  let report: (FetchEvent) -> Void

  /// - Parameter accept: judges the bytes; what it throws counts against the source.
  func run<Accepted>(
    _ url: WebURL, accept: ([UInt8]) throws(FetchFailure) -> Accepted
  ) throws(FetchFailure) -> Accepted {
    let start = Clocks.monotonic()
    var incidents = 0
    var refusals = 0
    while true {
      let failure: FetchFailure
      do throws(FetchFailure) {
        var request = Request(url)
        request.revalidates = refusals > 0
        request.needsFreshConnection = incidents + refusals > 0
        let response = try transport.fetch(
          request, limit: Manifest.maximumByteCount, interruption)
        do throws(FetchFailure) { return try accept(response.body) } catch {
          // Say what came: a login page is no manifest, and the user can tell.
          var refusal = error
          if refusal.category == .noteMalformed {
            refusal.message += " (the server answered \(response.head.summary))"
          }
          throw refusal
        }
      } catch { failure = error.from(url.shown) }
      if failure.category == .interrupted { throw failure }

      let wait: Double
      if failure.exitCode == 3 {
        incidents += 1
        wait = RetryPolicy.jittered(
          RetryPolicy.ladderWait(failures: incidents), random: .random(in: 0..<1))
      } else {
        // A cache may be out of step: one more look, past it.
        refusals += 1
        guard refusals < 2 else { throw failure }
        wait = 0
      }
      guard Clocks.monotonic() + wait - start <= retry.giveUpAfter else { throw failure }
      report(.sourceFailed(failure))
      if wait > 0 { report(.note("next attempt in \(Int(wait.rounded(.up))) s", hint: nil)) }
      try interruption.sleep(wait)
    }
  }
}
