import CLibcurl
import Failure
import System

/// Transfers by libcurl, driven by one thread.
package final class CurlTransport: Transport {
  private let policy: RequestPolicy
  private let mailbox = Monitor(Mailbox())
  private let multi: MultiHandle
  private let thread: Monitor<WorkThread?>

  private struct Mailbox: Sendable {
    var starts: [(TransferID, Request, any ResponseReceiver)] = []
    var cancels: [TransferID] = []
    var resumes = false
    var stops = false
    /// What transfers that run then finish with.
    var stopReason = FetchFailure(.interrupted, "the transport stopped")
  }

  /// Shared between threads for `curl_multi_wakeup` alone, which libcurl allows.
  private struct MultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    init() {
      guard let pointer = curl_multi_init() else { fatalError("Transport: out of memory") }
      self.pointer = pointer
    }
  }

  package init(policy: RequestPolicy) {
    Library.initialize()
    self.policy = policy
    let multi = MultiHandle()
    self.multi = multi
    _ = fetchres_curl_multi_set_long(
      multi.pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    thread = Monitor(nil)
    let loop = WorkThread("curl") { [policy, mailbox] in
      Loop(
        multi: multi.pointer, policy: policy,
        takeMail: {
          mailbox.look { mail in
            defer { mail = Mailbox(stops: mail.stops) }
            return mail
          }
        }
      ).run()
    }
    thread.change { $0 = loop }
  }

  deinit { stop() }

  package func start(_ request: Request, _ receiver: any ResponseReceiver) -> TransferID {
    let id = mailbox.look { mail in
      let id = TransferID.next()
      mail.starts.append((id, request, receiver))
      return id
    }
    curl_multi_wakeup(multi.pointer)
    return id
  }

  package func cancel(_ transfer: TransferID) {
    mailbox.look { $0.cancels.append(transfer) }
    curl_multi_wakeup(multi.pointer)
  }

  package func resumePaused() {
    mailbox.look { $0.resumes = true }
    curl_multi_wakeup(multi.pointer)
  }

  package func stop() { stop(nil) }

  /// - Parameter reason: what transfers that run finish with; nil for `interrupted`.
  package func stop(_ reason: FetchFailure?) {
    guard
      let running = thread.change({ thread in
        defer { thread = nil }
        return thread
      })
    else { return }
    mailbox.look { mail in
      mail.stops = true
      if let reason { mail.stopReason = reason }
    }
    curl_multi_wakeup(multi.pointer)
    running.join()
    curl_multi_cleanup(multi.pointer)
  }

  /// What the curl thread owns.
  private final class Loop {
    let multi: UnsafeMutableRawPointer
    let policy: RequestPolicy
    let takeMail: () -> Mailbox
    var transfers: [TransferID: CurlTransfer] = [:]
    var idle: [CurlEasy] = []
    let limit: SharedLimit?

    init(
      multi: UnsafeMutableRawPointer, policy: RequestPolicy, takeMail: @escaping () -> Mailbox
    ) {
      (self.multi, self.policy, self.takeMail) = (multi, policy, takeMail)
      limit = policy.rateLimit.map { SharedLimit(bytesPerSecond: $0) }
    }

    func run() {
      var nextCheck = 0.0
      while true {
        let mail = takeMail()
        for (id, request, receiver) in mail.starts { start(id, request, receiver) }
        for id in mail.cancels { end(id, FetchFailure(.interrupted, "the transfer was cancelled")) }
        let wait = limit?.wait ?? 0
        if mail.resumes || (limit != nil && wait == 0) {
          for transfer in transfers.values where transfer.isPaused { transfer.resume() }
        }
        if mail.stops {
          for id in transfers.keys { end(id, mail.stopReason) }
          break
        }

        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        reapFinished()
        let now = Clocks.monotonic()
        if now >= nextCheck {
          nextCheck = now + 0.25
          for (id, transfer) in transfers {
            if let failure = transfer.stall(now: now) { end(id, failure) }
          }
        }
        curl_multi_poll(multi, nil, 0, pollTime, nil)
      }
      idle.removeAll()
    }

    /// Milliseconds until there is something to do that no socket tells.
    private var pollTime: Int32 {
      guard !transfers.isEmpty else { return 60_000 }
      guard let limit, transfers.values.contains(where: \.isPaused) else { return 250 }
      return Int32(min(250, (limit.wait * 1_000).rounded(.up) + 1))
    }

    private func start(_ id: TransferID, _ request: Request, _ receiver: any ResponseReceiver) {
      let transfer = CurlTransfer(
        id: id, easy: idle.popLast() ?? CurlEasy(), request: request, policy: policy,
        receiver: receiver, limit: limit)
      transfers[id] = transfer
      curl_multi_add_handle(multi, transfer.easy.handle)
    }

    private func reapFinished() {
      var left: Int32 = 0
      while let message = curl_multi_info_read(multi, &left) {
        guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else {
          continue
        }
        let code = fetchres_curl_message_result(message)
        var context: UnsafeMutableRawPointer?
        fetchres_curl_get_pointer(handle, CURLINFO_PRIVATE, &context)
        guard let context else { continue }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        curl_multi_remove_handle(multi, handle)
        if transfer.completes(code) {
          release(transfer)
        } else {
          curl_multi_add_handle(multi, handle)
        }
      }
    }

    private func end(_ id: TransferID, _ failure: FetchFailure) {
      guard let transfer = transfers[id] else { return }
      curl_multi_remove_handle(multi, transfer.easy.handle)
      transfer.finish(failure)
      release(transfer)
    }

    private func release(_ transfer: CurlTransfer) {
      transfers[transfer.id] = nil
      idle.append(transfer.easy)
    }
  }
}

/// The parts of libcurl that are set up once. OpenSSL has to be set up before (`Crypto.OpenSSL`).
private enum Library {
  private static let setUp: Void = {
    curl_global_init(Int(CURL_GLOBAL_DEFAULT))
  }()

  static func initialize() { setUp }
}
