import CLibcurl
import Failure
import System

/// One request on its way, through redirects. Used on the curl thread alone.
final class CurlTransfer {
  let id: TransferID
  let easy: CurlEasy
  /// What was asked for by the caller; `request` is what is asked for now.
  let origin: WebURL
  private(set) var request: Request
  private let policy: RequestPolicy
  private let receiver: any ResponseReceiver

  private var reader = HeadReader()
  private var isHeadDelivered = false
  /// Whether anything came that answers the request.
  private var hasAnswer = false
  private var redirects = 0
  /// Whether the address that is asked is one that an earlier request was sent to.
  private var isRemembered = false
  /// Whether such an address may turn out to be good no more, without that being a failure.
  private var mayAskAgain = false
  private var isExpired = false
  /// Bytes of a body that is nobody's.
  private var ignored = 0
  /// Why the transfer has to end, if not by libcurl's own reason.
  private var refusal: FetchFailure?
  /// Since when the receiver has no room for the body; nil if it has.
  private(set) var pausedSince: Double?
  /// Whether libcurl has nothing to do with it now.
  private(set) var isWaiting = false
  /// Asked before every piece of a body; shared by all transfers of the thread.
  private let limit: SharedLimit?
  private var watch: StallWatch
  /// Called within libcurl, once the receiver wants the body.
  private let accepted: (TransferID) -> Void

  /// - Parameter remembered: where earlier requests for the same were redirected to.
  init(
    id: TransferID, easy: CurlEasy, request: Request, policy: RequestPolicy,
    receiver: any ResponseReceiver, limit: SharedLimit?, remembered: WebURL?,
    accepted: @escaping (TransferID) -> Void
  ) {
    self.accepted = accepted
    self.id = id
    self.limit = limit
    self.easy = easy
    self.request = request
    self.policy = policy
    self.receiver = receiver
    origin = request.url
    watch = policy.makeWatch(now: Clocks.monotonic())
    ask(remembered ?? origin, isRemembered: remembered != nil)
    mayAskAgain = isRemembered
  }

  /// Begins anew, at the origin or where it has redirected others to.
  func ask(_ url: WebURL, isRemembered: Bool) {
    request.url = url
    self.isRemembered = isRemembered
    redirects = isRemembered ? 1 : 0
    (isExpired, mayAskAgain, isWaiting, refusal) = (false, false, false, nil)
    prepare()
  }

  private func prepare() {
    reader = HeadReader()
    hasAnswer = false
    ignored = 0
    watch = policy.makeWatch(now: Clocks.monotonic())
    easy.prepare(request, policy, context: Unmanaged.passUnretained(self).toOpaque())
  }

  // MARK: Called by libcurl

  /// Takes a header line; the number of bytes taken, or 0 to end the transfer.
  func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
    hasAnswer = true
    watch.receive(bytes.count, now: Clocks.monotonic())
    // Latin-1 and worse may stand in a header; such bytes become replacement characters.
    var line = Substring(String(decoding: bytes, as: UTF8.self))
    while line.last?.isNewline == true { line.removeLast() }
    do throws(FetchFailure) {
      if let head = try reader.receive(line) { try complete(head) }
      return bytes.count
    } catch {
      refusal = error
      return 0
    }
  }

  /// What the target of a redirect answers when it is good no more (a signed URL), or moved.
  private static let expiredStatuses: Set = [400, 401, 403, 404, 410]

  private func complete(_ head: ResponseHead) throws(FetchFailure) {
    guard !head.isRedirect else { return }
    if head.status == 407, let refused = easy.proxyRefusal(of: request.url) { throw refused }
    if mayAskAgain, Self.expiredStatuses.contains(head.status) {
      isExpired = true
      return
    }
    isHeadDelivered = true
    try receiver.receive(head: head)
    accepted(id)
  }

  /// Takes a piece of the body; the number of bytes taken, or a value that libcurl knows.
  func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard isHeadDelivered else { return ignore(bytes.count) }
    if let limit, !limit.take(bytes.count, by: id) { return pause() }
    switch receiver.receive(body: bytes) {
    case .taken:
      watch.receive(bytes.count, now: Clocks.monotonic())
      return bytes.count
    case .pause:
      limit?.giveBack(bytes.count)
      pausedSince = Clocks.monotonic()
      return pause()
    case .refuse(let failure):
      refusal = failure
      return bytes.isEmpty ? 1 : 0
    }
  }

  private func pause() -> Int {
    watch.hold(now: Clocks.monotonic())
    return Int(CURL_WRITEFUNC_PAUSE)
  }

  /// The body of a redirect is nobody's, and ends some time.
  private func ignore(_ count: Int) -> Int {
    watch.receive(count, now: Clocks.monotonic())
    ignored += count
    guard ignored > ResponseHead.maximumByteCount else { return count }
    refusal = FetchFailure(.redirectRefused, "the server redirects with a body that does not end")
    return 0
  }

  // MARK: Called by the curl thread

  /// Offers the body again, at once.
  func resume() {
    pausedSince = nil
    watch.letGo(now: Clocks.monotonic())
    curl_easy_pause(easy.handle, CURLPAUSE_CONT)
  }

  /// From now on the transfer waits for what another one is told, and then asks that.
  func wait() { isWaiting = true }

  /// Time has passed in which this process did not run.
  func restartWindows(now: Double) { watch.restart(now: now) }

  /// Why the transfer has to be given up now; nil while it is well.
  func stall(now: Double) -> FetchFailure? {
    guard !isWaiting else { return nil }
    // libcurl has a limit of its own for the way to a connection, and who waits for one that others
    // use is not slow.
    guard easy.hasAsked else {
      watch.restart(now: now)
      return nil
    }
    return watch.check(now: now)
  }

  enum Completion {
    /// The receiver is to be told that all is well, or the failure.
    case ended(FetchFailure?)
    /// The transfer goes on at another address.
    case redirected
    /// What was remembered of the origin is good no more.
    case expired
  }

  func complete(_ code: CURLcode) -> Completion {
    if isExpired { return .expired }
    if refusal == nil, code == CURLE_OK, let head = reader.head, head.isRedirect {
      do throws(FetchFailure) {
        try follow(head)
        return .redirected
      } catch { refusal = error }
    }
    let failure = refusal ?? easy.failure(code, request) ?? missingHead
    return .ended(failure.map { explained($0, refusal == nil ? code : CURLE_OK) })
  }

  private var missingHead: FetchFailure? {
    isHeadDelivered ? nil : FetchFailure(.truncated, "the answer is no HTTP response")
  }

  /// The failure with what the exchange tells beside it.
  ///
  /// - Parameter code: libcurl's result, where the failure is its own.
  func explained(_ failure: FetchFailure, _ code: CURLcode = CURLE_OK) -> FetchFailure {
    var failure = failure.from(origin.shown)
    failure.exchange = easy.exchange(code, request, hasAnswer: hasAnswer)
    if redirects > 0 {
      failure.exchange.wasRedirected = true
      if failure.category != .redirectRefused {
        failure.message += ", at \(request.url.host), where it redirects to"
      }
    }
    guard let head = reader.head else { return failure }
    if failure.category == .httpStatus, let text = head["retry-after"] {
      failure.exchange.retryAfter = RetryAfter.seconds(
        text, date: head["date"], now: Clocks.wall())
    }
    if request.version == .http1, request.url.scheme == "https", [426, 505].contains(head.status) {
      failure.exchange.needsHTTP2 = true
    }
    return failure
  }

  /// The host that may be out of this machine's reach, if the failure is of that kind.
  func hostOutOfReach(_ code: CURLcode) -> String? {
    guard easy.mayBeCutOff(code) else { return nil }
    return request.url.host.hasPrefix("[")
      ? String(request.url.host.dropFirst().dropLast()) : request.url.host
  }

  func finish(_ failure: FetchFailure?) { receiver.finish(failure) }

  /// Where the origin has sent this request; nil if it was not, or if that was known before.
  var newTarget: WebURL? { redirects > (isRemembered ? 1 : 0) ? request.url : nil }

  private func follow(_ head: ResponseHead) throws(FetchFailure) {
    redirects += 1
    let target = easy.redirectTarget
    guard let target, let next = try? WebURL(target) else {
      throw FetchFailure(
        .redirectRefused,
        "the server redirects to no http or https URL"
          + (target.flatMap { WebURL.place(of: $0) }.map { ": \($0)" } ?? ""))
    }
    try policy.checkRedirect(from: request.url, to: next, hops: redirects)
    request.url = next.redirected(from: request.url)
    prepare()
  }
}
