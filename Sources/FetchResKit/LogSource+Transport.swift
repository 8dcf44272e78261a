import Failure
import Manifest
import ReleaseLog
import System
import Transport

extension LogSource {
  /// A site behind a base URL.
  init(_ base: WebURL, transport: any Transport, _ interruption: Interruption) {
    self.init(name: base.shown) { ask, done in
      Self.ask(
        ask, base.appending(SitePaths.urlPath(ask.path)), transport, interruption, done)
    }
  }

  fileprivate static func ask(
    _ ask: Ask, _ url: WebURL, _ transport: any Transport, _ interruption: Interruption,
    _ done: @escaping @Sendable (Result) -> Void
  ) {
    var request = Request(url)
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

extension SourceList {
  /// The sources as the release log asks them: one that has to be left alone is not asked, and what
  /// comes of asking is counted.
  func logSources(_ transport: any Transport, _ interruption: Interruption) -> [LogSource] {
    bases.indices.map { index in
      LogSource(name: bases[index].shown) { [self] ask, done in
        if let refusal = refusal(index) { return done(.failure(refusal)) }
        let epoch = epoch(of: index)
        LogSource.ask(ask, url(ask.path, at: index), transport, interruption) { [self] result in
          if case .failure(let failure) = result { count(failure, index, epoch: epoch) }
          done(result)
        }
      }
    }
  }
}
