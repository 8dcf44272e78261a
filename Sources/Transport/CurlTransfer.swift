import CLibcurl
import Failure
import System

/// One request on its way, through redirects. Used on the curl thread alone.
final class CurlTransfer {
  let id: TransferID
  let easy: CurlEasy
  private(set) var request: Request
  private let policy: RequestPolicy
  private let receiver: any ResponseReceiver

  private var head: ResponseHead?
  private var isHeadDelivered = false
  /// Whether anything came that answers the request.
  private var hasAnswer = false
  private var redirects = 0
  /// Bytes of the body of a redirect.
  private var ignored = 0
  /// Why the transfer has to end, if not by libcurl's own reason.
  private var refusal: FetchFailure?
  private(set) var isPaused = false
  /// Asked before every piece of a body; shared by all transfers of the thread.
  private let limit: SharedLimit?
  private var watch: StallWatch

  init(
    id: TransferID, easy: CurlEasy, request: Request, policy: RequestPolicy,
    receiver: any ResponseReceiver, limit: SharedLimit?
  ) {
    self.id = id
    self.limit = limit
    self.easy = easy
    self.request = request
    self.policy = policy
    self.receiver = receiver
    watch = StallWatch(
      limit: policy.stall, firstByteTimeout: policy.firstByteTimeout, now: Clocks.monotonic())
    prepare()
  }

  private func prepare() {
    head = nil
    hasAnswer = false
    ignored = 0
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
      if line.hasPrefix("HTTP/") {
        // A new response: the last one was an interim answer.
        head = ResponseHead(statusLine: line)
        if head == nil { throw FetchFailure(.truncated, "the answer is no HTTP response") }
      } else if line.isEmpty {
        try completeHead()
      } else {
        try head?.add(line: line)
      }
      return bytes.count
    } catch {
      refusal = error
      return 0
    }
  }

  private func completeHead() throws(FetchFailure) {
    guard let head, head.status >= 200, !isHeadDelivered, !head.isRedirect else { return }
    isHeadDelivered = true
    try receiver.receive(head: head)
  }

  /// Takes a piece of the body; the number of bytes taken, or a value that libcurl knows.
  func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    watch.receive(bytes.count, now: Clocks.monotonic())
    guard isHeadDelivered else { return ignore(bytes.count) }
    if let limit, !limit.take(bytes.count) {
      isPaused = true
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    switch receiver.receive(body: bytes) {
    case .taken: return bytes.count
    case .pause:
      isPaused = true
      limit?.giveBack(bytes.count)
      return Int(CURL_WRITEFUNC_PAUSE)
    case .refuse(let failure):
      refusal = failure
      return bytes.isEmpty ? 1 : 0
    }
  }

  /// The body of a redirect is nobody's, and ends some time.
  private func ignore(_ count: Int) -> Int {
    ignored += count
    guard ignored > ResponseHead.maximumByteCount else { return count }
    refusal = FetchFailure(.redirectRefused, "the server redirects with a body that does not end")
    return 0
  }

  // MARK: Called by the curl thread

  func resume() {
    isPaused = false
    watch.restart(now: Clocks.monotonic())
    curl_easy_pause(easy.handle, CURLPAUSE_CONT)
  }

  /// Why the transfer has to be given up now; nil while it is well.
  func stall(now: Double) -> FetchFailure? { isPaused ? nil : watch.check(now: now) }

  /// Whether the transfer goes on at another address. Otherwise the receiver has been told.
  func completes(_ code: CURLcode) -> Bool {
    if refusal == nil, code == CURLE_OK, let head, head.isRedirect {
      do throws(FetchFailure) {
        try follow(head)
        return false
      } catch { refusal = error }
    }
    finish(refusal ?? easy.failure(code) ?? missingHead, refusal == nil ? code : CURLE_OK)
    return true
  }

  private var missingHead: FetchFailure? {
    isHeadDelivered ? nil : FetchFailure(.truncated, "the answer is no HTTP response")
  }

  /// - Parameter code: libcurl's result, where the failure is its own.
  func finish(_ failure: FetchFailure?, _ code: CURLcode = CURLE_OK) {
    guard var failure = failure?.from(request.url.shown) else { return receiver.finish(nil) }
    failure.exchange = easy.exchange(code, request, hasAnswer: hasAnswer)
    if let head { add(head, to: &failure.exchange) }
    receiver.finish(failure)
  }

  private func add(_ head: ResponseHead, to exchange: inout Exchange) {
    if request.version == .http1, request.url.scheme == "https", [426, 505].contains(head.status) {
      exchange.needsHTTP2 = true
    }
  }

  private func follow(_ head: ResponseHead) throws(FetchFailure) {
    redirects += 1
    guard let target = easy.redirectTarget, let next = try? WebURL(target) else {
      throw FetchFailure(.redirectRefused, "the server redirects to no http or https URL")
    }
    try policy.checkRedirect(from: request.url, to: next, hops: redirects)
    request.url = next
    watch = StallWatch(
      limit: policy.stall, firstByteTimeout: policy.firstByteTimeout, now: Clocks.monotonic())
    prepare()
  }
}

/// The one rate limiter of a curl thread.
final class SharedLimit {
  private var limiter: RateLimiter

  init(bytesPerSecond: Int64) {
    limiter = RateLimiter(bytesPerSecond: bytesPerSecond, now: Clocks.monotonic())
  }

  func take(_ count: Int) -> Bool { limiter.take(count, now: Clocks.monotonic()) }

  /// What was counted and will be offered again.
  func giveBack(_ count: Int) { limiter.giveBack(count) }

  /// Seconds until a paused transfer may go on.
  var wait: Double { limiter.wait(now: Clocks.monotonic()) }
}
