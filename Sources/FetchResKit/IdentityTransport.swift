import Failure
import System
import Transport

/// A transport that shows a client certificate, and that is made anew when the certificate is replaced
/// or cleared: with the old one go all its connections and TLS sessions.
final class IdentityTransport: Transport {
  private let current: Monitor<CurlTransport>
  private let watch: IdentityWatch

  /// - Parameters:
  ///   - make: makes a transport with that certificate; nil for none.
  ///   - renew: what there is instead, once the watched record has changed.
  init(
    _ first: ClientCertificate?, name: String, store: IdentityStore, stamp: IdentityStore.Stamp,
    make: @escaping @Sendable (ClientCertificate?) -> CurlTransport,
    renew: @escaping @Sendable () -> ClientCertificate?
  ) {
    let current = Monitor(make(first))
    self.current = current
    watch = IdentityWatch(name, in: store, since: stamp) {
      let certificate = renew()
      let fresh = make(certificate)
      let old = current.look { transport in
        defer { transport = fresh }
        return transport
      }
      // Without the lock: what fails here is started again at once, on the new one.
      old.stop(
        FetchFailure(
          .truncated,
          certificate == nil
            ? "the identity '\(name)' was cleared: its connections are closed"
            : "the identity '\(name)' was replaced: its connections are closed"))
    }
  }

  func start(_ request: Request, _ receiver: any ResponseReceiver) -> TransferID {
    current.look { $0.start(request, receiver) }
  }

  func cancel(_ transfer: TransferID) { current.look { $0.cancel(transfer) } }

  func resumePaused() { current.look { $0.resumePaused() } }

  func stop() {
    watch.end()
    current.look { $0 }.stop()
  }
}

/// Looks once a second whether a record is still the one that is in use.
final class IdentityWatch: Sendable {
  private let hasEnded: Monitor<Bool>
  private let thread: Monitor<WorkThread?>

  private static let interval = 1.0

  init(
    _ name: String, in store: IdentityStore, since stamp: IdentityStore.Stamp,
    onChange: @escaping @Sendable () -> Void
  ) {
    let hasEnded = Monitor(false)
    self.hasEnded = hasEnded
    thread = Monitor(
      WorkThread("identity") {
        var seen: IdentityStore.Stamp? = stamp
        while hasEnded.wait(until: Clocks.monotonic() + Self.interval, { $0 ? true : nil }) == nil {
          let now = store.stamp(name)
          guard now != seen else { continue }
          seen = now
          onChange()
        }
      })
  }

  func end() {
    let running = thread.look { thread in
      defer { thread = nil }
      return thread
    }
    hasEnded.change { $0 = true }
    running?.join()
  }
}
