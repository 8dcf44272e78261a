/// Where origins have sent requests for data, so that not every one of many asks there first. What is
/// remembered may be good for a short time only (a signed URL): the target says so when it is over, and
/// then the origin is asked again, once for all.
struct RedirectMemory {
  private var targets: [WebURL: WebURL] = [:]
  private var renewals: [WebURL: Renewal] = [:]

  private struct Renewal {
    let asker: TransferID
    var waiting: [TransferID] = []
  }

  enum Answer: Equatable {
    /// Ask the origin, and say what comes of it: others wait for that.
    case askOrigin
    /// Another request has brought a new target already.
    case ask(WebURL)
    /// Another request asks the origin now.
    case wait
  }

  func target(of origin: WebURL) -> WebURL? { targets[origin] }

  /// Whether the origin is being asked again at this time; then the request waits like those before it.
  mutating func waits(for origin: WebURL, _ id: TransferID) -> Bool {
    guard renewals[origin] != nil else { return false }
    renewals[origin]?.waiting.append(id)
    return true
  }

  /// A request for `origin` was answered well by `target`.
  mutating func learn(_ target: WebURL, of origin: WebURL) { targets[origin] = target }

  /// `target` failed, in whatever way: the next request asks the origin.
  mutating func forget(_ target: WebURL, of origin: WebURL) {
    if targets[origin] == target { targets[origin] = nil }
  }

  /// `target`, which was remembered, is good no more.
  mutating func expired(_ target: WebURL, of origin: WebURL, for id: TransferID) -> Answer {
    forget(target, of: origin)
    if let newer = targets[origin] { return .ask(newer) }
    if waits(for: origin, id) { return .wait }
    renewals[origin] = Renewal(asker: id)
    return .askOrigin
  }

  /// What became of the request that asked the origin is known. Has no effect for any other request.
  ///
  /// - Returns: those that waited for it. They ask what is remembered now, or else the origin.
  mutating func settle(_ origin: WebURL, by id: TransferID) -> [TransferID] {
    guard let renewal = renewals[origin], renewal.asker == id else { return [] }
    renewals[origin] = nil
    return renewal.waiting
  }
}
