import Failure
import Manifest
import ReleaseLog
import System
import Transport

extension LogSource {
  /// A site behind a base URL.
  ///
  /// - Parameter manifestName: what the newest manifest is called there, percent-encoded.
  init(
    _ base: WebURL, manifestName: String = SitePaths.manifest, transport: any Transport,
    _ interruption: Interruption
  ) {
    self.init(name: base.shown) { ask, done in
      let path = ask.path == SitePaths.manifest ? manifestName : SitePaths.urlPath(ask.path)
      var request = Request(base.appending(path))
      request.revalidates = ask.bypassesCaches
      request.needsFreshConnection = ask.isRepeat
      let observer = interruption.observe { done(.failure(Interruption.failure($0))) }
      _ = transport.start(
        request,
        SmallReceiver(limit: ask.limit) { result in
          observer.end()
          done(result.map { Answer($0.body, summary: $0.head.summary) })
        })
    }
  }
}
