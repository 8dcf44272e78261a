import System

/// Decides, for the requests of one port, which faults are done to which answer: by a plan, a seed, and
/// what was asked before. The same requests in the same order get the same faults, and a fault that
/// goes by chance does not even depend on the order of different requests.
package final class FaultDirector: Sendable {
  private let port: Int
  private let plan: Monitor<FaultPlan.Port>
  private let seed: UInt64
  private let releases: ReleaseFacts
  private let report: @Sendable (OriginEvent) -> Void
  private let state = Monitor(State())

  private struct State: Sendable {
    var requests: Int64 = 0
    var connections: Int64 = 0
    var sent: Int64 = 0
    /// How many requests each rule applied to.
    var matched: [Int: Int64] = [:]
    /// How often the very same request came.
    var seen: [String: Int] = [:]
  }

  /// - Parameters:
  ///   - port: its number, from 1 on.
  ///   - site: what is served, to know the releases.
  package init(
    port: Int, plan: FaultPlan.Port, seed: UInt64, site: StaticSite,
    report: @escaping @Sendable (OriginEvent) -> Void
  ) {
    self.port = port
    self.plan = Monitor(plan)
    self.seed = seed
    self.report = report
    releases = ReleaseFacts(site)
  }

  /// From now on by another plan; its counters begin anew.
  package func change(_ plan: FaultPlan.Port) {
    self.plan.change { $0 = plan }
    state.change { state in
      state.matched = [:]
      state.seen = [:]
    }
  }

  var latency: Double? { plan.look { $0.latency } }

  var rate: Int64? { plan.look { $0.rate } }

  func sending(_ bytes: Int64) {
    state.change { $0.sent += bytes }
    report(.sending(port: port, bytes: bytes))
  }

  /// Whether a connection that has just begun may go on.
  func accepts() -> Bool {
    let number = state.change { state in
      state.connections += 1
      return state.connections
    }
    report(.connection(port: port))
    for (index, rule) in plan.look({ $0.rules }).enumerated() where rule.fault == .dead {
      var draw = Draw(seed: seed, "\(port)", "\(index)", "connection \(number)")
      guard isDue(rule, index, &draw) else { continue }
      report(
        .fault(
          FaultRecord(
            port: port, request: 0, path: "", range: nil, fault: .dead, rule: index + 1)))
      return false
    }
    return true
  }

  /// The answer as it goes on the wire.
  func answer(_ head: RequestHead, _ right: Answer, file: SiteFile?, now: Int64) -> WireAnswer {
    var answer = WireAnswer(right, now: now)
    let path = head.path
    let place = SitePlace(file?.components ?? [])
    var range: Range<Int64>?
    if let file, case .part(let part) = ByteRange(head.fields.values("range"), size: file.size) {
      range = part
    }
    let number = state.change { state in
      state.requests += 1
      return state.requests
    }
    report(.request(RequestRecord(port: port, number: number, head: head, range: range)))

    let facts = releases.facts(place.release)
    for (index, rule) in plan.look({ $0.rules }).enumerated() {
      let bytes = range ?? (place.kind == .data ? file.map { 0..<$0.size } : nil)
      guard
        rule.targets.contains(where: {
          place.matches($0, bytes: bytes, blockSize: facts?.blockSize)
        })
      else { continue }
      let key = "\(index) \(head.method) \(path) \(head.fields.values("range"))"
      let turn = state.change { state in
        state.seen[key, default: 0] += 1
        return state.seen[key] ?? 0
      }
      var draw = Draw(seed: seed, "\(port)", key, "\(turn)")
      guard isDue(rule, index, &draw) else { continue }
      var context = FaultContext(
        rule: rule, head: head, file: file, place: place, range: range,
        blockSize: facts?.blockSize, data: facts?.data, seed: seed, draw: draw)
      guard rule.fault.bend(&answer, &context) else { continue }
      report(
        .fault(
          FaultRecord(
            port: port, request: number, path: path,
            range: range.map { "\($0.lowerBound)-\($0.upperBound - 1)" }, fault: rule.fault,
            rule: index + 1)))
    }
    if head.method == "HEAD" { answer.body = [] }
    return answer
  }

  private func isDue(_ rule: FaultRule, _ index: Int, _ draw: inout Draw) -> Bool {
    let (count, sent) = state.change { state in
      state.matched[index, default: 0] += 1
      return (state.matched[index] ?? 0, state.sent)
    }
    let turn = count - rule.afterRequests
    guard turn > 0, sent >= rule.afterBytes, turn <= rule.first ?? .max,
      turn % (rule.every ?? 1) == 0
    else { return false }
    return rule.chance.map { draw.chance($0) } ?? true
  }
}

extension RequestHead {
  /// The path of the target, without scheme, host and query.
  var path: String {
    var path = target[...]
    if !path.hasPrefix("/") {
      path = path.dropFirst("http://".count).drop { $0 != "/" }
    }
    return String(path.prefix { $0 != "?" })
  }
}
