import Download
import Failure
import Manifest
import Storage
import System
import Transport

/// Asks for small files, each until it is there or the time is over.
struct SmallFetch {
  let transport: any Transport
  let retry: RetryPolicy
  let interruption: Interruption
  let report: (FetchEvent) -> Void

  /// - Parameter accept: judges the bytes; what it throws counts against the source.
  func run<Accepted>(
    _ url: WebURL, limit: Int = Manifest.maximumByteCount,
    accept: ([UInt8]) throws(FetchFailure) -> Accepted
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
        let response = try transport.fetch(request, limit: limit, interruption)
        do throws(FetchFailure) { return try accept(response.body) } catch {
          // Say what came: a login page is no manifest, and the user can tell.
          var refusal = error
          if refusal.category == .noteMalformed {
            refusal.message += " (the server answered \(response.head.summary))"
          }
          throw refusal
        }
      } catch {
        // That is nothing that the source did.
        if error.category == .interrupted { throw error }
        failure = error.from(url.shown)
      }

      let wait: Double
      if failure.exitCode == 3 {
        incidents += 1
        wait = RetryPolicy.jittered(
          RetryLadder.wait(failures: UInt32(incidents)), random: .random(in: 0..<1))
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
