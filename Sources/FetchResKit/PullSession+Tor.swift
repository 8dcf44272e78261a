import Failure
import Manifest
import SignedNote
import System
import Transport

/// What comes before the first request of a pull through Tor.
extension PullSession {
  /// Returns at once if the pull goes another way.
  func awaitTor(_ transport: any Transport, _ sources: SourceList) throws(FetchFailure) {
    guard case .tor(let socks, let control) = request.proxy else { return }
    var port: (String, TorControlPort)?
    if let control {
      let address = try control.checkedAddress()
      port = (
        address.text, TorControlPort(address, password: control.password, interruption)
      )
    }
    var turn = 0
    let wait = TorWait(
      socks: socks, control: port, giveUpAfter: request.giveUpAfter, interruption: interruption,
      probe: { deadline throws(FetchFailure) in
        defer { turn += 1 }
        // In turn: one that is not there says nothing of Tor.
        return try probe(turn % sources.bases.count, of: sources, transport, until: deadline)
      }, report: report)
    try wait.run()
  }

  /// Whether anything of a source comes through.
  private func probe(
    _ source: Int, of sources: SourceList, _ transport: any Transport, until deadline: Double
  ) throws(FetchFailure) -> TorStart.Word? {
    do throws(FetchFailure) {
      _ = try transport.fetch(
        Request(sources.url(SitePaths.checkpoint, at: source)), limit: Checkpoint.maximumByteCount,
        interruption, until: deadline)
      return .isThrough
    } catch {
      switch error.category {
      case .interrupted: throw error
      case .proxyUnreachable where error.exchange.isLocal: return .isGone
      case .proxyUnreachable:
        return error.exchange.wasRefusedBeyondProxy ? .isThrough : .isThere
      // Whatever a server did, it was reached.
      default: return Clocks.monotonic() < deadline ? .isThrough : nil
      }
    }
  }
}
