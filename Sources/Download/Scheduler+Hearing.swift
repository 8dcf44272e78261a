import Failure
import MerkleTree

/// What happened, and whom it is counted against.
extension Scheduler {
  /// What has arrived from the network in this run so far, in bytes, verified or not.
  package mutating func arrived(bytes: Int64, now: Double) {
    if bytes > arrivedBytes { (arrivedBytes, lastArrival, lastAnswer) = (bytes, now, now) }
    meter.tick(bytes: bytes, now: now)
    governor.tick(bytes: bytes, now: now)
  }

  /// What has arrived of a span so far, whole blocks or not.
  package mutating func arrived(bytes: Int64, span: Span.ID) { active[span]?.bytes = bytes }

  /// Whole blocks of a span were handed over for verification.
  package mutating func received(_ blocks: Range<Int64>, span: Span.ID, now: Double) {
    guard var state = active[span] else { return }
    lastAnswer = now
    started[span]?.unjudged += Int64(blocks.count)
    state.received = max(state.received, blocks.upperBound)
    active[span] = state
    // The first of a source is wanted early; the rest is measured when the span has ended.
    if sources[state.span.source].rate == nil, now - state.start >= 0.25 {
      measure(state, now: now)
    }
  }

  private mutating func measure(_ state: ActiveSpan, now: Double) {
    let bytes = layout.bytes(of: state.span.blocks.lowerBound..<state.received)
    sources[state.span.source].measured(bytes: Int64(bytes.count), seconds: now - state.start)
  }

  /// Blocks were verified and written; `span` is nil for those that were on disk.
  package mutating func verified(_ blocks: Range<Int64>, span: Span.ID?, now: Double) {
    hasChanged = true
    defer { if let span { judged(Int64(blocks.count), of: span) } }
    let isNews = !isVerified(blocks)
    done.insert(blocks)
    missing.remove(blocks)
    guard let span, let source = started[span]?.source else { return }
    lastProgress = now
    active[span]?.hasVerified = true
    active[span]?.rejectedInARow = 0
    if !attempts.isEmpty { for block in blocks { attempts[block] = nil } }
    let bytes = isNews ? Int64(layout.bytes(of: blocks).count) : 0
    if let record = sources[source].verified(bytes: bytes) {
      pending.append(.record(source, record))
    }
    // Whoever was asked for the same has lost the race.
    for (id, state) in active where id != span && !state.rest.isEmpty {
      if done.contains(state.rest.upperBound - 1), isVerified(state.rest) { cancel(id) }
    }
  }

  /// A block that was on disk does not hash to its leaf.
  package mutating func lost(_ block: Int64) { want(block..<block + 1) }

  /// Blocks that were expected from elsewhere have to be fetched after all.
  package mutating func want(_ blocks: Range<Int64>) {
    hasChanged = true
    giveBack(blocks)
  }

  /// Blocks come from elsewhere: they are not to be fetched.
  ///
  /// - Returns: those of them that were still to be fetched and that nobody works on.
  package mutating func withhold(_ blocks: Range<Int64>) -> [Range<Int64>] {
    var withheld: [Range<Int64>] = []
    var start = blocks.lowerBound
    while let run = missing.run(from: start), run.lowerBound < blocks.upperBound {
      withheld.append(run.clamped(to: blocks))
      start = run.upperBound
    }
    missing.remove(blocks)
    return withheld
  }

  /// A block that came from a source does not hash to its leaf.
  package mutating func rejected(
    _ block: Int64, span: Span.ID, _ failure: FetchFailure, now: Double
  ) {
    hasChanged = true
    defer { judged(1, of: span) }
    if !done.contains(block) { giveBack(block..<block + 1) }
    guard let start = started[span] else { return }
    sources[start.source].note(failure)
    // What the source had been asked before its last lie was known says nothing new.
    if start.lies == sources[start.source].lies { lied(start.source, now: now) }
    blame(block, span, failure, now: now)
    guard var state = active[span], !state.isCancelled else { return }
    state.rejectedInARow += 1
    active[span] = state
    // A source that is wrong twice in a row is wrong about the window, not about a block.
    // One that sends the whole file may be right further on, unless it was about nothing yet.
    let isWrong =
      state.span.isWhole
      ? state.rejectedInARow >= 4 && !state.hasVerified : state.rejectedInARow >= 2
    if isWrong { cancel(span) }
  }

  /// A transfer ended, for this reason if it is one. What it had handed over is still being verified.
  package mutating func ended(_ span: Span.ID, _ failure: FetchFailure?, now: Double) {
    guard let state = active.removeValue(forKey: span) else { return }
    hasChanged = true
    defer { judged(0, of: span) }
    let source = state.span.source
    measure(state, now: now)
    giveBack(state.rest)
    allowTakeover(of: state)
    guard !state.isCancelled else { return }
    if failure?.exchange.isLocal != true { lastAnswer = now }
    guard let failure else { return sources[source].completedSpan() }
    if failure.category == .rangeIgnored, !state.span.isWhole {
      return sources[source].ignoredRange()
    }
    let first = state.rest.isEmpty ? state.span.blocks.lowerBound : state.received
    let spoke = sources[source].speaks
    sources[source].note(failure)
    if sources[source].isFree(failure, spokeBefore: spoke) { return }
    if failure.exitCode != 3 {
      blame(first, span, failure, now: now)
    } else if !state.hasVerified {
      climb(source, failure, askedIn: state.epoch, since: state.start, now: now)
    }
  }

  /// Whoever shared blocks with a span that ended before they were all there may be helped again.
  private mutating func allowTakeover(of ended: ActiveSpan) {
    guard ended.isHedged else { return }
    for (id, state) in active where state.isHedged && state.rest.overlaps(ended.span.blocks) {
      let isLonger = state.rest.upperBound > ended.span.blocks.upperBound
      if !ended.rest.isEmpty || isLonger { active[id]?.isHedged = false }
    }
  }

  /// Forgets a span of which nothing more will be heard.
  private mutating func judged(_ blocks: Int64, of span: Span.ID) {
    started[span]?.unjudged -= blocks
    if active[span] == nil, let left = started[span]?.unjudged, left <= 0 { started[span] = nil }
  }

  /// What nobody else works on, and is not there, is missing again.
  private mutating func giveBack(_ blocks: Range<Int64>) {
    missing.insert(blocks)
    var start = blocks.lowerBound
    while let run = done.run(from: start), run.lowerBound < blocks.upperBound {
      missing.remove(run.clamped(to: blocks))
      start = run.upperBound
    }
    for state in active.values where !state.isCancelled && state.rest.overlaps(blocks) {
      missing.remove(state.rest.clamped(to: blocks))
    }
  }

  // MARK: Tiles

  /// Whether anything may be asked for now.
  package func mayAsk(now: Double) -> Bool {
    failure == nil
      && sources.indices.contains { isUsable($0, now: now) && sources[$0].mayBeAsked(now: now) }
  }

  /// The source to ask for a tile now; nil if there is none.
  package func source(for tile: TileAddress, now: Double) -> SourceID? {
    let counts = tileAttempts[TileKey(tile)] ?? [:]
    func rank(_ source: SourceID) -> (Int, Double) {
      let isUnwell = sources[source].isOnProbation
      return (2 * (counts[source] ?? 0) + (isUnwell ? 1 : 0), -(sources[source].rate ?? 0))
    }
    return sources.indices.filter {
      isUsable($0, now: now) && sources[$0].mayBeAsked(now: now)
        && (counts[$0] ?? 0) < policy.attemptsPerBlock
    }.min { rank($0) < rank($1) }
  }

  package mutating func requested(_ tile: TileAddress, from source: SourceID) {
    tileRequests[tile] = StartedTile(
      source: source, start: lookedAt, epoch: sources[source].epoch)
  }

  /// Which source was asked for a tile last.
  package func source(asked tile: TileAddress) -> SourceID? { tileRequests[tile]?.source }

  /// A tile came.
  package mutating func received(_ tile: TileAddress, now: Double) {
    (lastArrival, lastAnswer) = (now, now)
    tileAttempts[TileKey(tile)] = nil
  }

  /// A tile could not be had or does not authenticate.
  package mutating func tileFailed(_ tile: TileAddress, _ failure: FetchFailure, now: Double) {
    hasChanged = true
    guard let request = tileRequests.removeValue(forKey: tile) else { return }
    let source = request.source
    let spoke = sources[source].speaks
    sources[source].note(failure)
    if !failure.exchange.isLocal { lastAnswer = now }
    if sources[source].isFree(failure, spokeBefore: spoke) { return }
    if failure.exitCode == 3 {
      return climb(source, failure, askedIn: request.epoch, since: request.start, now: now)
    }
    let key = TileKey(tile)
    let count = (tileAttempts[key]?[source] ?? 0) + 1
    tileAttempts[key, default: [:]][source] = count
    strike(source, failure, count, now: now)
    let isObtainable = sources.indices.contains {
      isUsable($0, now: now) && (tileAttempts[key]?[$0] ?? 0) < policy.attemptsPerBlock
    }
    if !isObtainable, !releaseHeld(now: now) { self.failure = failure }
  }

  // MARK: Blame

  private mutating func blame(
    _ block: Int64, _ span: Span.ID, _ failure: FetchFailure, now: Double
  ) {
    guard let start = started[span] else { return }
    let count = (attempts[block]?[start.source] ?? 0) + 1
    attempts[block, default: [:]][start.source] = count
    guard !start.hasStruck else { return }
    started[span]?.hasStruck = true
    strike(start.source, failure, count, now: now)
  }

  private mutating func strike(
    _ source: SourceID, _ failure: FetchFailure, _ count: Int, now: Double
  ) {
    sources[source].strike(
      failure, wait: jittered(RetryPolicy.blockWait(attempts: count)),
      limit: policy.attemptsPerBlock, now: now)
  }

  private mutating func lied(_ source: SourceID, now: Double) {
    sources[source].lie()
    guard sources[source].lies >= 2, !sources[source].isHeld(now: now),
      !isOnlyOneLeft(source, now: now)
    else { return }
    pending.append(.record(source, sources[source].hold(now: now)))
    for (id, state) in active where state.span.source == source { cancel(id) }
  }

  private mutating func climb(
    _ source: SourceID, _ failure: FetchFailure, askedIn: Int, since start: Double, now: Double
  ) {
    // Nobody has answered since: then it is this machine that reaches nothing.
    let isOffline = failure.exchange.isLocal && lastAnswer < start
    let factor = jittered(1)
    let record = sources[source].climb(
      failure, askedIn: askedIn, isOffline: isOffline, now: now, jitter: { $0 * factor })
    if let record { pending.append(.record(source, record)) }
  }

  private mutating func jittered(_ wait: Double) -> Double {
    RetryPolicy.jittered(wait, random: Double.random(in: 0..<1, using: &random))
  }
}
