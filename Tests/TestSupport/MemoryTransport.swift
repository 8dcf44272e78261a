import Failure
import System
import Transport

/// An honest source in memory, with a thread of its own. Bodies come in pieces, and wait when they
/// are paused.
package final class MemoryTransport: Transport {
  package static let base: WebURL = {
    do { return try WebURL("http://site.example/") } catch {
      preconditionFailure("TestSupport: \(error)")
    }
  }()

  private let state = Monitor(State())
  private let thread: WorkThread

  private struct Transfer: Sendable {
    let id: TransferID
    let request: Request
    let receiver: any ResponseReceiver
    var position = 0
    var hasHead = false
  }

  private struct State: Sendable {
    var runnable: [Transfer] = []
    var paused: [Transfer] = []
    var cancelled: Set<TransferID> = []
    var stops = false
    var requests: [String] = []
  }

  /// - Parameters:
  ///   - files: by their paths below ``base``.
  ///   - onPiece: called before each piece of a body, on the transport's thread.
  package init(
    _ files: [String: [UInt8]], pieceSize: Int = 10_000,
    onPiece: @escaping @Sendable () -> Void = {}
  ) {
    let state = state
    thread = WorkThread("source") {
      while let transfer = state.wait({ state -> Transfer?? in
        if state.stops { return .some(nil) }
        return state.runnable.isEmpty ? nil : .some(state.runnable.removeFirst())
      }) ?? nil {
        Self.advance(transfer, files, pieceSize, state, onPiece)
      }
    }
  }

  /// The paths that were asked for, in order.
  package var requests: [String] { state.look { $0.requests } }

  private static func advance(
    _ transfer: Transfer, _ files: [String: [UInt8]], _ pieceSize: Int, _ state: Monitor<State>,
    _ onPiece: () -> Void
  ) {
    var transfer = transfer
    if state.look({ $0.cancelled.contains(transfer.id) }) {
      return transfer.receiver.finish(FetchFailure(.interrupted, "cancelled"))
    }
    let file = files[String(transfer.request.url.path.dropFirst())]
    let range = transfer.request.range.map { Int($0.lowerBound)..<Int($0.upperBound) }
    let body = file.map { Array($0[range ?? $0.indices]) } ?? []
    do throws(FetchFailure) {
      if !transfer.hasHead {
        transfer.hasHead = true
        var fields = ["content-length": "\(body.count)"]
        if let range, let file {
          fields["content-range"] =
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.count)"
        }
        try transfer.receiver.receive(
          head: ResponseHead(status: file == nil ? 404 : range == nil ? 200 : 206, fields: fields))
      }
    } catch { return transfer.receiver.finish(error) }
    let piece = Array(body[transfer.position...].prefix(pieceSize))
    if piece.isEmpty { return transfer.receiver.finish(nil) }
    onPiece()
    switch piece.withUnsafeBytes({ transfer.receiver.receive(body: $0) }) {
    case .taken:
      transfer.position += piece.count
      state.change { [transfer] in $0.runnable.append(transfer) }
    case .pause: state.change { [transfer] in $0.paused.append(transfer) }
    case .refuse(let failure): transfer.receiver.finish(failure)
    }
  }

  package func start(_ request: Request, _ receiver: any ResponseReceiver) -> TransferID {
    state.change { state in
      let id = TransferID.next()
      state.requests.append(String(request.url.path.dropFirst()))
      state.runnable.append(Transfer(id: id, request: request, receiver: receiver))
      return id
    }
  }

  package func cancel(_ transfer: TransferID) {
    state.change { state in
      state.cancelled.insert(transfer)
      state.runnable += state.paused
      state.paused = []
    }
  }

  package func resumePaused() {
    state.change { state in
      state.runnable += state.paused
      state.paused = []
    }
  }

  package func stop() {
    state.change { $0.stops = true }
    thread.join()
  }
}
