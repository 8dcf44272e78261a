import CLibcurl
import Failure
import System

/// What the curl thread owns, and does.
final class CurlLoop {
  private let multi: MultiHandle
  private let policy: RequestPolicy
  private let mailbox: Monitor<CurlMailbox>
  private var transfers: [TransferID: CurlTransfer] = [:]
  private var idle: [CurlEasy] = []
  private let limit: SharedLimit?
  private var redirects = RedirectMemory()
  /// Transfers whose heads came in this turn, and are right.
  private var accepted: [TransferID] = []
  /// Transfers that have ended, and wait for a word about this machine until then.
  private var unexplained: [TransferID: (failure: FetchFailure, until: Double)] = [:]
  private var lastLook = Clocks.monotonic()

  /// Seconds between two looks at all transfers.
  private static let interval = 0.25
  /// When two looks at the clock are this many seconds further apart than they should be, the process
  /// was stopped or the machine slept.
  private static let longestTurn = 2.0
  /// How many seconds a resolver has to answer whether it answers.
  private static let patience = 5.0

  init(multi: MultiHandle, policy: RequestPolicy, mailbox: Monitor<CurlMailbox>) {
    (self.multi, self.policy, self.mailbox) = (multi, policy, mailbox)
    limit = policy.rateLimit.map { SharedLimit(bytesPerSecond: $0) }
  }

  func run() {
    var nextCheck = 0.0
    while true {
      _ = lookAtClock()
      let mail = mailbox.look { $0.take() }
      for (id, request, receiver) in mail.starts { start(id, request, receiver) }
      for id in mail.cancels { end(id, FetchFailure(.interrupted, "the transfer was cancelled")) }
      for (id, isCutOff) in mail.looks { explain(id, isCutOff: isCutOff) }
      if mail.resumes { resumePaused() }
      while let id = limit?.next() { transfers[id]?.resume() }
      if mail.stops {
        for id in Array(transfers.keys) { end(id, mail.stopReason) }
        break
      }

      var running: Int32 = 0
      curl_multi_perform(multi.pointer, &running)
      for id in accepted { learn(id) }
      accepted.removeAll(keepingCapacity: true)
      reapFinished()
      let now = lookAtClock()
      if now >= nextCheck {
        nextCheck = now + Self.interval
        check(now: now)
      }
      curl_multi_poll(multi.pointer, nil, 0, pollTime, nil)
    }
    idle.removeAll()
  }

  /// Milliseconds until there is something to do that no socket tells.
  private var pollTime: Int32 {
    guard !transfers.isEmpty else { return 60_000 }
    guard let wait = limit?.wait else { return Int32(Self.interval * 1_000) }
    return Int32(min(Self.interval * 1_000, (wait * 1_000).rounded(.up) + 1))
  }

  /// Who has waited longest for room is offered it first.
  private func resumePaused() {
    let paused = transfers.values.compactMap { transfer in
      transfer.pausedSince.map { (since: $0, transfer) }
    }
    for (_, transfer) in paused.sorted(by: { $0.since < $1.since }) { transfer.resume() }
  }

  private func start(_ id: TransferID, _ request: Request, _ receiver: any ResponseReceiver) {
    do throws(FetchFailure) { try policy.proxy.check(request.url) } catch {
      return receiver.finish(error.from(request.url.shown))
    }
    // Who distrusts what came before distrusts where it came from.
    let usesMemory = request.isBulk && !request.needsFreshConnection
    let transfer = CurlTransfer(
      id: id, easy: idle.popLast() ?? CurlEasy(), request: request, policy: policy,
      receiver: receiver, limit: limit,
      remembered: usesMemory ? redirects.target(of: request.url) : nil
    ) { [unowned self] id in accepted.append(id) }
    transfers[id] = transfer
    if usesMemory, redirects.waits(for: request.url, id) { return transfer.wait() }
    curl_multi_add_handle(multi.pointer, transfer.easy.handle)
  }

  // MARK: Time

  /// What the clock says. It is looked at before and after the work of each turn, since a process may
  /// be stopped in the middle of it as well as while it waits.
  private func lookAtClock() -> Double {
    let now = Clocks.monotonic()
    if now - lastLook > Self.interval + Self.longestTurn { restartWindows(now: now) }
    lastLook = now
    return now
  }

  private func check(now: Double) {
    for (id, transfer) in transfers {
      if let (_, until) = unexplained[id] {
        if now >= until { explain(id, isCutOff: true) }
      } else if let failure = transfer.stall(now: now) {
        end(id, transfer.explained(failure))
      }
    }
  }

  /// Nobody is to blame for time in which this process did not run. libcurl's own limit for the way to
  /// a connection cannot be moved: who is on it begins again.
  private func restartWindows(now: Double) {
    for (id, transfer) in transfers where unexplained[id] == nil && !transfer.isWaiting {
      transfer.restartWindows(now: now)
      guard !transfer.easy.hasAsked else { continue }
      curl_multi_remove_handle(multi.pointer, transfer.easy.handle)
      curl_multi_add_handle(multi.pointer, transfer.easy.handle)
    }
  }

  // MARK: The end of transfers

  private func reapFinished() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi.pointer, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else {
        continue
      }
      let code = fetchres_curl_message_result(message)
      var context: UnsafeMutableRawPointer?
      fetchres_curl_get_pointer(handle, CURLINFO_PRIVATE, &context)
      guard let context else { continue }
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
      curl_multi_remove_handle(multi.pointer, handle)
      switch transfer.complete(code) {
      case .redirected: curl_multi_add_handle(multi.pointer, handle)
      case .expired: askAgain(transfer)
      case .ended(let failure):
        if let failure, let host = transfer.hostOutOfReach(code) {
          look(transfer, host, failure)
        } else {
          finish(transfer, failure)
        }
      }
    }
  }

  private func end(_ id: TransferID, _ failure: FetchFailure) {
    guard let transfer = transfers[id] else { return }
    curl_multi_remove_handle(multi.pointer, transfer.easy.handle)
    finish(transfer, failure)
  }

  private func finish(_ transfer: CurlTransfer, _ failure: FetchFailure?) {
    transfers[transfer.id] = nil
    unexplained[transfer.id] = nil
    limit?.remove(transfer.id)
    if let failure, failure.category != .interrupted {
      redirects.forget(transfer.request.url, of: transfer.origin)
    }
    settle(transfer)
    transfer.finish(failure)
    idle.append(transfer.easy)
  }

  // MARK: Redirects

  private func learn(_ id: TransferID) {
    guard let transfer = transfers[id], transfer.request.isBulk else { return }
    if let target = transfer.newTarget { redirects.learn(target, of: transfer.origin) }
    settle(transfer)
  }

  /// Those that waited for what this transfer was told go on.
  private func settle(_ transfer: CurlTransfer) {
    for id in redirects.settle(transfer.origin, by: transfer.id) {
      guard let waiting = transfers[id] else { continue }
      let target = redirects.target(of: transfer.origin)
      ask(waiting, target ?? transfer.origin, isRemembered: target != nil)
    }
  }

  private func askAgain(_ transfer: CurlTransfer) {
    let answer = redirects.expired(
      transfer.request.url, of: transfer.origin, for: transfer.id)
    switch answer {
    case .askOrigin: ask(transfer, transfer.origin, isRemembered: false)
    case .ask(let target): ask(transfer, target, isRemembered: true)
    case .wait: transfer.wait()
    }
  }

  private func ask(_ transfer: CurlTransfer, _ url: WebURL, isRemembered: Bool) {
    transfer.ask(url, isRemembered: isRemembered)
    curl_multi_add_handle(multi.pointer, transfer.easy.handle)
  }

  // MARK: Whose fault it is

  /// Finds out, elsewhere, whether it is this machine that reaches nothing.
  private func look(_ transfer: CurlTransfer, _ host: String, _ failure: FetchFailure) {
    unexplained[transfer.id] = (failure, Clocks.monotonic() + Self.patience)
    _ = WorkThread("look") { [id = transfer.id, mailbox, multi] in
      let isCutOff = Reachability.isCutOff(from: host)
      mailbox.look { mail in
        guard !mail.isClosed else { return }
        mail.looks.append((id, isCutOff))
        curl_multi_wakeup(multi.pointer)
      }
    }
  }

  private func explain(_ id: TransferID, isCutOff: Bool) {
    guard let transfer = transfers[id], var failure = unexplained[id]?.failure else { return }
    failure.exchange.isLocal = isCutOff
    finish(transfer, failure)
  }
}
