import Crypto
import Failure
import System
import Transport

/// Asks servers through the transport of the program, without the rest of it.
final class Asker: Sendable {
  let transport: CurlTransport

  init(_ adjust: (inout RequestPolicy) -> Void = { _ in }) {
    OpenSSL.prepare()
    var policy = RequestPolicy(userAgent: "test")
    policy.certificateFile = Nginx.here?.certificates
    adjust(&policy)
    transport = CurlTransport(policy: policy)
  }

  deinit { transport.stop() }

  typealias Answer = Result<SmallResponse, FetchFailure>

  /// Asks for everything at once and waits for all answers.
  ///
  /// - Parameter total: the size of what a range is asked of.
  func ask(_ requests: [Request], limit: Int = 1 << 20, total: Int64 = 0) -> [Answer?] {
    let answers = Monitor([Int: Answer]())
    for (index, request) in requests.enumerated() {
      _ = transport.start(
        request,
        SmallReceiver(limit: limit, range: request.range, total: total) {
          answer in answers.change { $0[index] = answer }
        })
    }
    _ = answers.wait(until: Clocks.monotonic() + Fetchres.patience) {
      $0.count == requests.count ? true : nil
    }
    return answers.look { answers in requests.indices.map { answers[$0] } }
  }

  func ask(_ request: Request) -> Answer? { ask([request])[0] }

  func ask(_ url: String) throws -> Answer? { ask(Request(try WebURL(url))) }

  /// The failure that the answer is; nil if it is none.
  func failure(_ request: Request) -> FetchFailure? { ask(request)?.failure }

  func failure(_ url: String) throws -> FetchFailure? { try ask(url)?.failure }
}

extension Result where Success == SmallResponse, Failure == FetchFailure {
  var failure: FetchFailure? {
    if case .failure(let failure) = self { failure } else { nil }
  }

  var body: [UInt8]? { try? get().body }
}
