import Failure
import MerkleTree

/// Which blocks are asked for next, and of which source.
extension Scheduler {
  package static let firstSpanBytes: Int64 = 8 << 20
  /// What is asked of a source that has shown nothing yet, where there are others.
  static let probeBytes: Int64 = 1 << 20
  static let maximumSpanBytes: Int64 = 64 << 20
  /// How long a span should take, in seconds.
  static let spanSeconds = 0.75
  /// How often, in seconds, it is looked whether an idle source should take over from a slow one,
  /// and how old a span has to be.
  static let hedgeInterval = 1.0
  /// A source that has to wait this long, in seconds, does not count as the next one to ask.
  static let soon = 15.0

  /// How many requests may run now.
  var allowed: Int {
    if holdsBack { return nextID == 0 ? 1 : 0 }
    return governor.allowed
  }

  mutating func nextSpan(now: Double) -> Span? {
    guard occupied(now: now) < allowed, active.count < governor.maximum else { return nil }
    let ready = readySources(now: now)
    for source in ready where sources[source].knowsRanges {
      guard let blocks = nextBlocks(of: source, now: now) else { continue }
      return start(source, blocks, now: now)
    }
    for source in ready where sources[source].knowsRanges && activeCount(source) == 0 {
      guard let (id, rest) = slowest(for: source, now: now) else { continue }
      active[id]?.isHedged = true
      let count = min(Int64(rest.count), longestSpan(of: source))
      let span = start(source, rest.lowerBound..<rest.lowerBound + count, now: now)
      active[span.id]?.isHedged = true
      return span
    }
    // Without ranges there is one stream, and nothing beside it.
    guard active.isEmpty, !missing.isEmpty, !rangesComeSoon(now: now),
      let source = ready.first(where: { !sources[$0].knowsRanges })
    else { return nil }
    return start(source, 0..<layout.count, isWhole: true, now: now)
  }

  private func activeCount(_ source: SourceID) -> Int {
    active.values.count { $0.span.source == source }
  }

  /// The sources that may be asked now, the one first that is likely to do best with one request more.
  private func readySources(now: Double) -> [SourceID] {
    let unproven = active.values.count { !sources[$0.span.source].isProven }
    let isAnyProven = isSomebodyProven(now: now)
    let ready = sources.indices.filter { source in
      let health = sources[source]
      guard isUsable(source, now: now), health.mayBeAsked(now: now) else { return false }
      let count = activeCount(source)
      guard count < (health.isOnProbation ? 1 : health.limit) else { return false }
      // Those who have shown nothing yet do not take the connections from those who have.
      return health.isProven || !isAnyProven || unproven < max(1, allowed / 4)
    }
    func promise(_ source: SourceID) -> Double {
      let (health, count) = (sources[source], activeCount(source))
      // Whoever has not been tried is, one request each; whoever has failed comes last.
      if !health.isProven, health.lastFailure != nil { return -Double(1 + count) }
      if !health.isProven { return count == 0 ? .infinity : 0 }
      return (health.rate ?? 0) / Double(count + 1)
    }
    return ready.sorted { (promise($1), $0) < (promise($0), $1) }
  }

  /// Whether a source that has given something right can be asked now.
  private func isSomebodyProven(now: Double) -> Bool {
    sources.indices.contains {
      sources[$0].isProven && isUsable($0, now: now) && sources[$0].mayBeAsked(now: now)
    }
  }

  private func rangesComeSoon(now: Double) -> Bool {
    sources.indices.contains {
      sources[$0].knowsRanges && isUsable($0, now: now) && sources[$0].notBefore > now
        && sources[$0].notBefore <= now + Self.soon
    }
  }

  private mutating func start(
    _ source: SourceID, _ blocks: Range<Int64>, isWhole: Bool = false, now: Double
  ) -> Span {
    // Whatever else has gone well meanwhile, a block that failed never comes over the same way.
    let isSuspect = isWhole ? !attempts.isEmpty : attempts[blocks.lowerBound] != nil
    let span = Span(
      id: nextID, source: source, blocks: blocks, isWhole: isWhole,
      needsFreshConnection: !sources[source].reusesConnections || isSuspect,
      usesHTTP2: sources[source].speaks == .http2)
    nextID += 1
    missing.remove(blocks)
    active[span.id] = ActiveSpan(
      span: span, start: now, epoch: sources[source].epoch, received: blocks.lowerBound)
    started[span.id] = StartedSpan(source: source, lies: sources[source].lies)
    return span
  }

  private func nextBlocks(of source: SourceID, now: Double) -> Range<Int64>? {
    // Suspect blocks go alone, so that one bad block costs one block: first to a source that has not
    // failed at them, and after all else to one that has.
    let suspects = attempts.keys.filter { missing.contains($0) && mayGive($0, source, now: now) }
    if let block = suspects.filter({ attempts[$0]?[source] == nil }).min() {
      return block..<block + 1
    }
    if let run = unsuspected(limit: spanLength(of: source)) { return run }
    return suspects.min().map { $0..<$0 + 1 }
  }

  /// Whether it is this source's turn to be asked for a block that failed: nobody who can be asked
  /// soon has failed at it less often.
  private func mayGive(_ block: Int64, _ source: SourceID, now: Double) -> Bool {
    let counts = attempts[block] ?? [:]
    let count = counts[source] ?? 0
    return count < policy.attemptsPerBlock
      && sources.indices.allSatisfy { other in
        other == source || (counts[other] ?? 0) >= count || !isUsable(other, now: now)
          || !sources[other].knowsRanges || sources[other].notBefore > now + Self.soon
      }
  }

  /// In blocks.
  private func spanLength(of source: SourceID) -> Int64 {
    let isAlone = sources.count { $0.isLeft } == 1
    let first = isAlone || source == 0 ? Self.firstSpanBytes : Self.probeBytes
    let bytes = sources[source].rate.map { Int64(min($0, 1e12) * Self.spanSeconds) } ?? first
    // Towards the end everyone gets a share.
    let left = missing.count * layout.blockSize
    let share = min(bytes, left / Int64(2 * governor.allowed), Self.maximumSpanBytes)
    let least = min(left, isAlone ? 1 << 20 : 1 << 18)
    return min(longestSpan(of: source), max(1, max(share, least) / layout.blockSize))
  }

  /// What there is memory for, in blocks.
  private func longestSpan(of source: SourceID) -> Int64 {
    sources[source].speaks == .http2 ? min(spanBlocks, reservedBlocks) : spanBlocks
  }

  /// The first missing blocks that never failed.
  private func unsuspected(limit: Int64) -> Range<Int64>? {
    var start: Int64 = 0
    while let run = missing.run(from: start, limit: limit) {
      guard !attempts.isEmpty else { return run }
      if let first = run.first(where: { attempts[$0] == nil }) {
        let end = (first..<run.upperBound).first { attempts[$0] != nil }
        return first..<(end ?? run.upperBound)
      }
      start = run.upperBound
    }
    return nil
  }

  // MARK: Silent probes

  /// After so many seconds of silence the first request to a source is no reason not to ask another,
  /// and after so many more it makes room for one that has shown what it can do.
  static let quietProbe = 0.5
  static let silentProbe = 3.0
  /// What a first request has to bring so as not to be silent, of what the best source would have.
  static let usefulShare = 0.1
  /// For so many seconds such a source is not asked again.
  static let asidePause = 15.0

  /// The requests that count against the number of those allowed.
  func occupied(now: Double) -> Int {
    active.values.count { !isProbe($0) || now - $0.start < Self.quietProbe }
  }

  /// Whether it is a first request, where there are other sources, that has brought nothing whole yet.
  private func isProbe(_ state: ActiveSpan) -> Bool {
    state.received == state.span.blocks.lowerBound && !sources[state.span.source].isProven
      && !state.isCancelled && sources.count { $0.isLeft } > 1
  }

  mutating func setSilentProbesAside(now: Double) {
    guard isSomebodyProven(now: now), !missing.isEmpty, active.count >= governor.allowed else {
      return
    }
    let best = sources.filter(\.isProven).compactMap(\.rate).max() ?? 0
    for (id, state) in active where isProbe(state) && now - state.start >= Self.silentProbe {
      // Large blocks take their time: one that comes as fast as others do is not silent.
      let useful = Self.usefulShare * best * (now - state.start)
      guard state.bytes == 0 || Double(state.bytes) < useful else { continue }
      sources[state.span.source].setAside(until: now + Self.asidePause)
      cancel(id)
    }
  }

  /// When a probe will have been silent for long enough to matter.
  var probesChangeAt: Double {
    active.values.filter { isProbe($0) }.flatMap {
      [$0.start + Self.quietProbe, $0.start + Self.silentProbe]
    }.filter { $0 > lookedAt }.min() ?? .infinity
  }

  // MARK: Slow spans

  /// Whether there is a span that another source might take over.
  var canHedge: Bool {
    sources.count { $0.isLeft } > 1 && active.values.contains { !$0.isHedged && !$0.isCancelled }
  }

  /// The span whose rest will take longest, if an idle source would have it in less than half of that.
  private func slowest(
    for source: SourceID, now: Double
  ) -> (Span.ID, rest: Range<Int64>)? {
    var found: (id: Span.ID, rest: Range<Int64>, seconds: Double)?
    for (id, state) in active
    where !state.isHedged && !state.isCancelled && state.span.source != source {
      let age = now - state.start
      let rest = unverified(state.rest)
      guard age >= Self.hedgeInterval, !rest.isEmpty else { continue }
      let handedOver = layout.bytes(of: state.span.blocks.lowerBound..<state.received).count
      let received = max(state.bytes, Int64(handedOver))
      let left = Double(Int64(layout.bytes(of: state.span.blocks).count) - received)
      let seconds = received > 0 ? left * age / Double(received) : .infinity
      let need =
        Double(layout.bytes(of: rest).count) / (sources[source].rate ?? Double(Self.probeBytes))
      guard seconds > 2 * need + Self.hedgeInterval / 2 else { continue }
      if let found, (found.seconds, found.id) >= (seconds, id) { continue }
      found = (id, rest, seconds)
    }
    return found.map { ($0.id, $0.rest) }
  }

  /// Without what others have brought already of its beginning.
  private func unverified(_ rest: Range<Int64>) -> Range<Int64> {
    guard let run = done.run(from: rest.lowerBound), run.lowerBound == rest.lowerBound else {
      return rest
    }
    return min(run.upperBound, rest.upperBound)..<rest.upperBound
  }
}
