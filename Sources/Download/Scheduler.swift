import Failure
import MerkleTree

/// Decides what is asked for next and of which source, and what an answer means. Pure: events and
/// times go in, actions come out; it does no I/O, takes no lock and reads no clock.
package struct Scheduler: Sendable {
  package enum Action: Sendable, Equatable {
    case start(Span)
    case cancel(Span.ID)
    /// What has to be kept of a source for later runs.
    case record(SourceID, SourceRecord)
  }

  package enum Verdict: Sendable, Equatable {
    case running
    case done
    case failed(FetchFailure)
  }

  package let layout: BlockLayout
  let policy: RetryPolicy
  /// The most blocks of a span, and of one for which all memory is set aside.
  let spanBlocks: Int64
  let reservedBlocks: Int64
  var governor: ConnectionGovernor
  var random: any RandomNumberGenerator & Sendable

  var sources: [SourceHealth]
  /// Blocks that nobody works on.
  var missing: BlockSet
  var done: BlockSet
  var active: [Span.ID: ActiveSpan] = [:]
  /// Of every span that is under way, or whose blocks are not all judged: whose it was.
  var started: [Span.ID: StartedSpan] = [:]
  var nextID = 0
  /// How often a block that failed did so, at which source.
  var attempts: [Int64: [SourceID: Int]] = [:]
  var tileAttempts: [TileKey: [SourceID: Int]] = [:]
  var tileRequests: [TileAddress: StartedTile] = [:]
  var pending: [Action] = []

  var lastProgress: Double
  /// When something came last: a block may take longer than the patience for one that does not come.
  var lastArrival: Double
  var arrivedBytes: Int64 = 0
  /// When a source answered last, whichever and whatever.
  var lastAnswer = -Double.infinity
  var meter: RateMeter
  var failure: FetchFailure?
  /// When ``next(now:)`` looked last, and whether anything happened since.
  private(set) var lookedAt: Double
  var hasChanged = true

  /// Holds all but the very first request back, until it is known what does not have to be fetched.
  package var holdsBack = false { didSet { hasChanged = true } }

  /// Whether tiles are asked for, or to be asked for: what is there cannot be judged without them.
  package var awaitsTiles = false

  /// Whether anything is expected of a source. Only then does the patience run.
  private var awaitsSources: Bool { !missing.isEmpty || !active.isEmpty || awaitsTiles }

  struct ActiveSpan {
    var span: Span
    var start: Double
    var epoch: Int
    /// The blocks below this one have been handed over for verification.
    var received: Int64
    /// What has come of it, whole blocks or not.
    var bytes: Int64 = 0
    var hasVerified = false
    var rejectedInARow = 0
    var isCancelled = false
    /// Whether another source is asked for the rest of it, or it is such a rest itself.
    var isHedged = false

    var rest: Range<Int64> { received..<span.blocks.upperBound }
  }

  struct StartedSpan {
    var source: SourceID
    /// The lies of the source that were known when it began.
    var lies: Int
    var hasStruck = false
    /// Blocks that were handed over and not judged yet.
    var unjudged: Int64 = 0
  }

  struct StartedTile {
    var source: SourceID
    var start: Double
    var epoch: Int
  }

  /// The tiles of the right edge prove each other only together, so one source is asked for all.
  enum TileKey: Hashable {
    case edge
    case full(TileAddress)

    init(_ tile: TileAddress) { self = tile.isFull ? .full(tile) : .edge }
  }

  /// - Parameters:
  ///   - sources: at least one, the publisher's own first.
  ///   - claimed: blocks that may be on disk and are re-hashed meanwhile.
  ///   - spanBlocks: the most blocks to ask for at a time.
  ///   - reservedBlocks: the same, where memory for all of them is set aside first.
  package init(
    layout: BlockLayout, sources: [SourceSeed], claimed: BlockSet, connections: Int,
    spanBlocks: Int64 = .max, reservedBlocks: Int64 = .max, policy: RetryPolicy, now: Double,
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    precondition(!sources.isEmpty, "Download: no source")
    self.layout = layout
    self.policy = policy
    self.spanBlocks = spanBlocks
    self.reservedBlocks = reservedBlocks
    self.random = random
    self.sources = sources.map { SourceHealth($0, limit: connections, now: now) }
    governor = ConnectionGovernor(maximum: connections, now: now)
    missing = BlockSet(universe: layout.count, full: true)
    for run in claimed.runs { missing.remove(run) }
    done = BlockSet(universe: layout.count)
    lastProgress = now
    lastArrival = now
    lookedAt = now
    meter = RateMeter(now: now)
  }

  // MARK: What is the case

  package var verdict: Verdict {
    if let failure { return .failed(failure) }
    #if FETCHRES_MUTANTS
      if Mutant.earlyMarker.isChosen, done.count + 1 == layout.count { return .done }
    #endif
    return done.count == layout.count ? .done : .running
  }

  /// The blocks whose bytes are verified and written.
  package var verified: BlockSet { done }

  package func isVerified(_ blocks: Range<Int64>) -> Bool {
    done.count(in: blocks) == blocks.upperBound - blocks.lowerBound
  }

  /// Whether a block is still to be fetched, and nobody works on it.
  package func isMissing(_ block: Int64) -> Bool { missing.contains(block) }

  /// Bytes a second from the network over the last seconds; nil before it is known.
  package func rate(now: Double) -> Double? { meter.rate(now: now) }

  package var activeSpans: Int { active.count }

  /// How many spans have something still to be heard of.
  package var unsettledSpans: Int { started.count }

  package var activeSpanIDs: [Span.ID] { active.keys.sorted() }

  /// The name of the source that a span was asked of.
  package func name(of span: Span.ID) -> String {
    started[span].map { sources[$0.source].name } ?? ""
  }

  package var reports: [SourceReport] { sources.map { SourceReport($0) } }

  /// How many sources have a request under way.
  package var activeSources: Int { Set(active.values.map(\.span.source)).count }

  /// When ``next(now:)`` may have something new without any event; nil for never.
  package var wakeAt: Double? {
    guard failure == nil, awaitsSources else { return nil }
    let end = min(max(lastProgress, lastArrival) + policy.giveUpAfter, probesChangeAt)
    guard occupied(now: lookedAt) < allowed else { return end }
    if missing.isEmpty { return canHedge ? min(end, lookedAt + Self.hedgeInterval) : end }
    let times = sources.filter(\.isLeft).map(\.notBefore).filter { hasChanged || $0 > lookedAt }
    return min(end, times.min() ?? end)
  }

  // MARK: What to do

  package mutating func next(now: Double) -> [Action] {
    (lookedAt, hasChanged) = (now, false)
    guard failure == nil else { return takePending() + cancelAll() }
    if awaitsSources {
      endIfSilent(now: now)
      setSilentProbesAside(now: now)
      while failure == nil, let span = nextSpan(now: now) {
        pending.append(.start(span))
      }
      let isIdle = active.isEmpty && (awaitsTiles || !missing.isEmpty && !holdsBack)
      if failure == nil, isIdle { endIfHopeless(now: now) }
    } else {
      lastArrival = now
    }
    return takePending() + (failure == nil ? [] : cancelAll())
  }

  private mutating func takePending() -> [Action] {
    defer { pending = [] }
    return pending
  }

  mutating func cancel(_ id: Span.ID) {
    guard active[id]?.isCancelled == false else { return }
    active[id]?.isCancelled = true
    pending.append(.cancel(id))
  }

  private mutating func cancelAll() -> [Action] {
    for id in active.keys.sorted() { cancel(id) }
    return takePending()
  }

  // MARK: Sources

  /// Another source, from now on. - Returns: its place in the list.
  package mutating func add(_ seed: SourceSeed, now: Double) -> SourceID {
    hasChanged = true
    sources.append(SourceHealth(seed, limit: governor.maximum, now: now))
    return sources.count - 1
  }

  /// Asks nothing more of that source, and ends what it was asked for.
  package mutating func remove(_ source: SourceID) {
    hasChanged = true
    sources[source].isRemoved = true
    for (id, state) in active where state.span.source == source { cancel(id) }
  }
}
