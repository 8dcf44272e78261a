import Failure
import MerkleTree
import Storage

/// Decides what is asked for next and what an answer means. Pure: events and times go in, actions
/// come out; it does no I/O, takes no lock and reads no clock.
package struct Scheduler: Sendable {
  package enum Action: Sendable, Equatable {
    case start(Span)
    case cancel(Span.ID)
  }

  package enum Verdict: Sendable, Equatable {
    case running
    case done
    case failed(FetchFailure)
  }

  package let layout: BlockLayout
  private let policy: RetryPolicy
  private let spanBlocks: Int64
  private var governor: ConnectionGovernor
  private var random: any RandomNumberGenerator & Sendable

  /// Blocks that nobody works on.
  private var missing: BlockSet
  private var done: BlockSet
  private var active: [Span.ID: ActiveSpan] = [:]
  private var nextID = 0
  private var attempts: [Int64: Int] = [:]
  private var tileAttempts: [TileAddress: Int] = [:]

  /// What the source has done to us: incidents in a row, when it may be asked again, and the last
  /// failure, which is the reason given if the run ends.
  private var incidents = 0
  /// Counts incidents for good: what was asked before the latest one belongs to it.
  private var epoch = 0
  private var tileEpochs: [TileAddress: Int] = [:]
  private var notBefore: Double
  private var lastFailure: FetchFailure?
  private var knowsRanges = true
  private var distrustsConnections = false

  private var lastProgress: Double
  /// When something came last: a block may take longer than the patience for one that does not come.
  private var lastArrival: Double
  private var arrivedBytes: Int64 = 0
  private var meter: RateMeter
  private var failure: FetchFailure?

  private struct ActiveSpan {
    var span: Span
    var epoch: Int
    /// The blocks below this one have been handed over for verification.
    var received: Int64
    var hasVerified = false
    var rejectedInARow = 0
    var isCancelled = false
  }

  package static let firstSpanBytes: Int64 = 8 << 20
  static let maximumSpanBytes: Int64 = 64 << 20
  /// How long a span should take, in seconds.
  static let spanSeconds = 0.75

  /// - Parameters:
  ///   - missing: the blocks to fetch; `done` is everything that is neither missing nor claimed.
  ///   - claimed: blocks that may be on disk and are re-hashed meanwhile.
  ///   - spanBlocks: the most blocks to ask for at a time.
  package init(
    layout: BlockLayout, claimed: BlockSet, connections: Int, spanBlocks: Int64 = .max,
    policy: RetryPolicy, now: Double,
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.layout = layout
    self.policy = policy
    self.spanBlocks = spanBlocks
    self.random = random
    governor = ConnectionGovernor(maximum: connections, now: now)
    missing = BlockSet(universe: layout.count, full: true)
    for run in claimed.runs { missing.remove(run) }
    done = BlockSet(universe: layout.count)
    notBefore = now
    lastProgress = now
    lastArrival = now
    meter = RateMeter(now: now)
  }

  // MARK: What is the case

  package var verdict: Verdict {
    if let failure { return .failed(failure) }
    return done.count == layout.count ? .done : .running
  }

  /// The blocks whose bytes are verified and written.
  package var verified: BlockSet { done }

  package func isVerified(_ blocks: Range<Int64>) -> Bool {
    done.count(in: blocks) == blocks.upperBound - blocks.lowerBound
  }

  /// Bytes a second from the network over the last seconds; nil before it is known.
  package func rate(now: Double) -> Double? { meter.rate(now: now) }

  package var activeSpans: Int { active.count }

  /// When ``next(now:)`` may have something new without any event; nil for never.
  package var wakeAt: Double? {
    guard failure == nil, !missing.isEmpty || !active.isEmpty else { return nil }
    let end = max(lastProgress, lastArrival) + policy.giveUpAfter
    return missing.isEmpty || active.count >= allowed
      ? end : min(end, notBefore)
  }

  // MARK: What to do

  package mutating func next(now: Double) -> [Action] {
    guard failure == nil else { return cancelAll() }
    if !missing.isEmpty || !active.isEmpty,
      now - max(lastProgress, lastArrival) >= policy.giveUpAfter
    {
      let idle = "no block was verified for \(Int(policy.giveUpAfter)) s"
      var last = lastFailure ?? FetchFailure(.stalled, idle)
      last.hint =
        last.hint
        ?? (lastFailure == nil ? "run again to resume" : "\(idle); run again to resume")
      failure = last
      return cancelAll()
    }
    var actions: [Action] = []
    while now >= notBefore, active.count < allowed,
      let blocks = knowsRanges ? nextBlocks(now: now) : wholeIfNeeded
    {
      // Whatever else has gone well meanwhile, a block that failed never comes over the same way.
      let isSuspect = knowsRanges ? attempts[blocks.lowerBound] != nil : !attempts.isEmpty
      let span = Span(
        id: nextID, blocks: blocks, isWhole: !knowsRanges,
        needsFreshConnection: distrustsConnections || isSuspect)
      nextID += 1
      missing.remove(blocks)
      active[span.id] = ActiveSpan(span: span, epoch: epoch, received: blocks.lowerBound)
      actions.append(.start(span))
    }
    return actions
  }

  private var wholeIfNeeded: Range<Int64>? {
    missing.isEmpty || !active.isEmpty ? nil : 0..<layout.count
  }

  private func nextBlocks(now: Double) -> Range<Int64>? {
    guard let first = missing.run(from: 0, limit: 1)?.lowerBound else { return nil }
    // Suspect blocks go alone, so that one bad block costs one block.
    if attempts[first] != nil { return first..<first + 1 }
    let perConnection = meter.rate(now: now).map { $0 / Double(max(1, active.count)) }
    var bytes = perConnection.map { Int64($0 * Self.spanSeconds) } ?? Self.firstSpanBytes
    // Towards the end everyone gets a share.
    let left = missing.count * layout.blockSize
    bytes = min(bytes, left / Int64(2 * governor.allowed), Self.maximumSpanBytes)
    let limit = min(spanBlocks, max(1, max(bytes, min(left, 1 << 20)) / layout.blockSize))
    guard let run = missing.run(from: first, limit: limit) else { return nil }
    let suspect = run.dropFirst().first { attempts[$0] != nil }
    return run.lowerBound..<(suspect ?? run.upperBound)
  }

  private mutating func cancelAll() -> [Action] {
    active.keys.sorted().compactMap { id in
      guard active[id]?.isCancelled == false else { return nil }
      active[id]?.isCancelled = true
      return .cancel(id)
    }
  }

  // MARK: What happened

  /// What has arrived from the network in this run so far, in bytes, verified or not.
  package mutating func arrived(bytes: Int64, now: Double) {
    if bytes > arrivedBytes { (arrivedBytes, lastArrival) = (bytes, now) }
    meter.tick(bytes: bytes, now: now)
    governor.tick(bytes: bytes, now: now)
  }

  /// Whole blocks of a span were handed over for verification.
  package mutating func received(_ blocks: Range<Int64>, span: Span.ID) {
    guard let state = active[span] else { return }
    active[span]?.received = max(state.received, blocks.upperBound)
  }

  /// Blocks were verified and written; `span` is nil for those that were on disk.
  package mutating func verified(_ blocks: Range<Int64>, span: Span.ID?, now: Double) {
    done.insert(blocks)
    missing.remove(blocks)
    guard let span else { return }
    lastProgress = now
    incidents = 0
    distrustsConnections = false
    active[span]?.hasVerified = true
    active[span]?.rejectedInARow = 0
    if !attempts.isEmpty { for block in blocks { attempts[block] = nil } }
  }

  /// A block that was on disk does not hash to its leaf.
  package mutating func lost(_ block: Int64) { want(block..<block + 1) }

  /// Blocks that were expected from elsewhere have to be fetched after all.
  package mutating func want(_ blocks: Range<Int64>) { giveBack(blocks) }

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

  /// Whether a block is still to be fetched, and nobody works on it.
  package func isMissing(_ block: Int64) -> Bool { missing.contains(block) }

  /// Holds all but the very first request back, until it is known what does not have to be fetched.
  package var holdsBack = false

  /// How many requests may run now.
  private var allowed: Int {
    if holdsBack { return nextID == 0 ? 1 : 0 }
    return knowsRanges ? governor.allowed : 1
  }

  /// A block that came from the source does not hash to its leaf.
  package mutating func rejected(
    _ block: Int64, span: Span.ID, _ failure: FetchFailure, now: Double
  ) -> [Action] {
    if !done.contains(block) { missing.insert(block..<block + 1) }
    distrustsConnections = true
    blame(block, failure, now: now)
    guard var state = active[span], !state.isCancelled else { return [] }
    state.rejectedInARow += 1
    defer { active[span] = state }
    // A source that is wrong twice in a row is wrong about the window, not about a block.
    guard state.rejectedInARow >= 2, !state.span.isWhole else { return [] }
    state.isCancelled = true
    return [.cancel(span)]
  }

  /// A transfer ended, for this reason if it is one. What it had handed over is still being verified.
  package mutating func ended(_ span: Span.ID, _ failure: FetchFailure?, now: Double) {
    guard let state = active.removeValue(forKey: span) else { return }
    let rest = state.received..<state.span.blocks.upperBound
    giveBack(rest)
    guard let failure, !state.isCancelled else { return }
    let first = rest.isEmpty ? state.span.blocks.lowerBound : rest.lowerBound
    lastFailure = failure
    distrustsConnections = true
    switch failure.category {
    case .rangeIgnored:
      knowsRanges = false
    case _ where failure.exitCode == 3:
      if !state.hasVerified { climb(failure, askedIn: state.epoch, now: now) }
    default:
      blame(first, failure, now: now)
    }
  }

  private mutating func giveBack(_ blocks: Range<Int64>) {
    missing.insert(blocks)
    var start = blocks.lowerBound
    while let run = done.run(from: start), run.lowerBound < blocks.upperBound {
      missing.remove(run.clamped(to: blocks))
      start = run.upperBound
    }
  }

  /// A tile was asked for.
  package mutating func requested(_ tile: TileAddress) { tileEpochs[tile] = epoch }

  /// A tile could not be had or does not authenticate.
  package mutating func tileFailed(_ tile: TileAddress, _ failure: FetchFailure, now: Double) {
    lastFailure = failure
    distrustsConnections = true
    let askedIn = tileEpochs.removeValue(forKey: tile) ?? epoch
    if failure.exitCode == 3 { return climb(failure, askedIn: askedIn, now: now) }
    let count = (tileAttempts[tile] ?? 0) + 1
    tileAttempts[tile] = count
    if count >= policy.attemptsPerBlock { self.failure = failure }
    notBefore = max(notBefore, now + jittered(RetryPolicy.blockWait(attempts: count)))
  }

  /// Whether the source may be asked now.
  package func mayAsk(now: Double) -> Bool { failure == nil && now >= notBefore }

  /// Counts an incident, once for all that was under way when it happened.
  private mutating func climb(_ failure: FetchFailure, askedIn: Int, now: Double) {
    guard askedIn == epoch else { return }
    epoch += 1
    incidents += 1
    let wait = RetryLadder.wait(failures: UInt32(incidents))
    notBefore = max(notBefore, now + jittered(wait))
    guard notBefore - lastProgress > policy.giveUpAfter else { return }
    var failure = failure
    failure.hint =
      failure.hint
      ?? "the next attempt would be in \(Int(wait)) s, later than --give-up-after allows; "
      + "run again to resume"
    self.failure = failure
  }

  private mutating func blame(_ block: Int64, _ failure: FetchFailure, now: Double) {
    lastFailure = failure
    let count = (attempts[block] ?? 0) + 1
    attempts[block] = count
    if count >= policy.attemptsPerBlock {
      self.failure = failure
    }
    notBefore = max(notBefore, now + jittered(RetryPolicy.blockWait(attempts: count)))
  }

  private mutating func jittered(_ wait: Double) -> Double {
    RetryPolicy.jittered(wait, random: Double.random(in: 0..<1, using: &random))
  }
}
