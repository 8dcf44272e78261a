import CLibcurl
import Failure
import System

/// Transfers by libcurl, driven by one thread.
package final class CurlTransport: Transport {
  private let mailbox = Monitor(CurlMailbox())
  private let multi = MultiHandle()
  private let thread: Monitor<WorkThread?>

  package init(policy: RequestPolicy) {
    Library.initialize()
    _ = fetchres_curl_multi_set_long(
      multi.pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    thread = Monitor(nil)
    let loop = WorkThread("curl") { [mailbox, multi] in
      CurlLoop(multi: multi, policy: policy, mailbox: mailbox).run()
    }
    thread.change { $0 = loop }
  }

  deinit { stop() }

  package func start(_ request: Request, _ receiver: any ResponseReceiver) -> TransferID {
    let id = TransferID.next()
    let isStarted = tell { $0.starts.append((id, request, receiver)) }
    if !isStarted { receiver.finish(mailbox.look { $0.stopReason }) }
    return id
  }

  package func cancel(_ transfer: TransferID) { tell { $0.cancels.append(transfer) } }

  package func resumePaused() { tell { $0.resumes = true } }

  package func stop() { stop(nil) }

  /// - Parameter reason: what transfers that run finish with; nil for `interrupted`.
  package func stop(_ reason: FetchFailure?) {
    guard
      let running = thread.change({ thread in
        defer { thread = nil }
        return thread
      })
    else { return }
    tell { mail in
      mail.stops = true
      if let reason { mail.stopReason = reason }
    }
    running.join()
    let late = mailbox.look { mail in
      mail.isClosed = true
      return mail.take()
    }
    curl_multi_cleanup(multi.pointer)
    for (_, _, receiver) in late.starts { receiver.finish(late.stopReason) }
  }

  /// False if nobody is there to hear it any more.
  @discardableResult
  private func tell(_ change: (inout CurlMailbox) -> Void) -> Bool {
    mailbox.look { mail in
      guard !mail.isClosed else { return false }
      change(&mail)
      curl_multi_wakeup(multi.pointer)
      return true
    }
  }
}

/// Shared between threads for `curl_multi_wakeup` alone, which libcurl allows.
struct MultiHandle: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer

  init() {
    Library.initialize()
    guard let pointer = curl_multi_init() else { fatalError("Transport: out of memory") }
    self.pointer = pointer
  }
}

/// The parts of libcurl that are set up once. OpenSSL has to be set up before (`Crypto.OpenSSL`).
private enum Library {
  private static let setUp: Void = {
    curl_global_init(Int(CURL_GLOBAL_DEFAULT))
  }()

  static func initialize() { setUp }
}
