import Failure
import System

/// A small response, whole.
package struct SmallResponse: Sendable {
  package var head: ResponseHead
  package var body: [UInt8]
}

/// Collects the body of a small response with status 200, within a bound.
package final class SmallReceiver: ResponseReceiver, @unchecked Sendable {
  // Unchecked: touched on the transport's thread alone.
  private let limit: Int
  private let range: Range<Int64>?
  private let total: Int64
  private let report: @Sendable (Result<SmallResponse, FetchFailure>) -> Void
  private var head: ResponseHead?
  private var body: [UInt8] = []

  /// - Parameters:
  ///   - limit: the largest body in bytes; one byte more ends the transfer.
  ///   - range: what was asked for, of `total` bytes; nil for the whole.
  package init(
    limit: Int, range: Range<Int64>? = nil, total: Int64 = 0,
    report: @escaping @Sendable (Result<SmallResponse, FetchFailure>) -> Void
  ) {
    (self.limit, self.range, self.total, self.report) = (limit, range, total, report)
  }

  package func receive(head: ResponseHead) throws(FetchFailure) {
    if let range {
      try head.check(range: range, total: total)
    } else {
      try head.checkStatus(200)
      try head.checkEncoding()
    }
    if let length = head.contentLength, length > Int64(limit) { throw tooLarge(head.summary) }
    self.head = head
  }

  package func receive(body bytes: UnsafeRawBufferPointer) -> BodyAnswer {
    guard body.count + bytes.count <= limit else {
      return .refuse(tooLarge(head?.summary ?? "a body"))
    }
    body.append(contentsOf: bytes)
    return .taken
  }

  package func finish(_ failure: FetchFailure?) {
    if let failure, !(failure.category == .truncated && isWhole) {
      return report(.failure(failure))
    }
    guard let head else {
      return report(.failure(FetchFailure(.truncated, "the server sent no answer")))
    }
    report(.success(SmallResponse(head: head, body: body)))
  }

  /// Whether all that was announced is there: then it does not matter how the connection ended, with
  /// TLS's own goodbye or without.
  private var isWhole: Bool {
    guard let head else { return false }
    return head.contentLength.map { $0 == Int64(body.count) } ?? (range?.count == body.count)
  }

  private func tooLarge(_ what: String) -> FetchFailure {
    FetchFailure(.tooLarge, "the server answered \(what), where at most \(limit) bytes belong")
  }
}

extension Transport {
  /// Asks for a small file and waits for it.
  ///
  /// - Parameters:
  ///   - limit: the largest body in bytes.
  ///   - total: the size of the resource, where a range of it is asked for.
  ///   - deadline: on the monotonic clock; nil to wait for as long as the policy allows.
  package func fetch(
    _ request: Request, limit: Int, _ interruption: Interruption, total: Int64 = 0,
    until deadline: Double? = nil
  ) throws(FetchFailure) -> SmallResponse {
    let result = Monitor<Result<SmallResponse, FetchFailure>?>(nil)
    let observer = interruption.observe { signal in
      result.change { $0 = $0 ?? .failure(Interruption.failure(signal)) }
    }
    defer { observer.end() }
    let transfer = start(
      request,
      SmallReceiver(limit: limit, range: request.range, total: total) { got in
        result.change { $0 = $0 ?? got }
      })
    let outcome = result.wait(until: deadline) { $0 }
    if interruption.signal != nil || outcome == nil { cancel(transfer) }
    guard let outcome else { throw FetchFailure(.timeout, "no whole answer in time") }
    return try outcome.get()
  }
}
