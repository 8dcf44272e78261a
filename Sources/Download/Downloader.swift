import Crypto
import Failure
import Manifest
import MerkleTree
import Storage
import System
import Transport

/// Brings every missing block of one release into its partial directory: performs what the scheduler
/// decides, and tells it what happened. Runs on the thread that calls ``run()``.
package final class Downloader {
  let resource: PartialResource
  let layout: BlockLayout
  let transport: any Transport
  private(set) var sources: [DownloadSource]
  let limits: DownloadLimits
  let report: (DownloadEvent) -> Void
  let mailbox: Monitor<[Message]>

  var scheduler: Scheduler
  var tiles: TileLoader
  let pool: BufferPool
  let arrived = ArrivedBytes()
  var transfers: [Span.ID: TransferID] = [:]
  /// What has come of each.
  var arrivals: [Span.ID: ArrivedBytes] = [:]
  /// How many buffers were set aside for a span that is under way.
  var reservations: [Span.ID: Int] = [:]
  /// Spans that need more memory at once than was free.
  var waiting: [Span] = []
  /// Buffers whose tiles are not authenticated yet: held, unwritten.
  var parked: [(PooledBuffer, Range<Int64>, Span.ID)] = []
  /// Claims that are not hashed yet.
  var claimed: BlockSet
  let journalled: BlockSet
  var carryOver: CarryOver
  let ownBlocks: ReuseFile
  var tilesWanted: Int64 = 0
  /// Blocks of local files that belong elsewhere than they stand.
  var moves: [(ReuseFile, from: Int64, to: Int64)] = []
  let zeroLeaf: Digest
  var hasPaired = false
  let lookedAt: [ObjectIdentifier: ReuseFile]
  var jobs = 0
  var localJobs = 0
  var looks = 0
  var pendingLook: (file: ReuseFile, blocks: Range<Int64>)?
  var resumedBytes: Int64 = 0
  var reusedBytes: Int64 = 0
  var committer: Committer
  var nextReport = 0.0
  var carried: CarriedBlocks
  /// Whether the next report should have a map of the blocks.
  package var mapIsWanted: () -> Bool = { false }
  /// Looked at once a second: how the list of sources has changed.
  private let sourceChanges: () -> DownloadSourceChange?
  private var nextSourceLook = 0.0

  /// What other threads tell the driver.
  enum Message: Sendable {
    case span(SpanReceiver.Event)
    case tile(TileAddress, Result<[UInt8], FetchFailure>)
    case outcome(VerifyWorkers.Outcome)
    case committed(FetchFailure?)
    case bufferIsFree
    case interrupted(Int32)
  }

  package init(
    _ resource: PartialResource, transport: any Transport, sources: [DownloadSource],
    limits: DownloadLimits, reuse: [ReuseFile] = [],
    sourceChanges: @escaping () -> DownloadSourceChange? = { nil },
    report: @escaping (DownloadEvent) -> Void
  ) throws(FetchFailure) {
    self.resource = resource
    self.transport = transport
    self.sources = sources
    self.sourceChanges = sourceChanges
    self.limits = limits
    self.report = report
    layout = resource.manifest.layout
    carried = CarriedBlocks(blocks: layout.count)
    let mailbox = Monitor<[Message]>([])
    self.mailbox = mailbox

    let plan = MemoryPlan(
      layout: layout, memory: limits.memory, connections: limits.connections)
    pool = BufferPool(bufferSize: plan.bufferSize, capacity: plan.buffers) {
      transport.resumePaused()
      mailbox.change { $0.append(.bufferIsFree) }
    }
    let tree = try AuthenticatedTree(
      count: layout.count, root: resource.manifest.root, capacity: plan.leafTiles)
    tiles = TileLoader(
      tree: tree, stored: { resource.storedTile($0) }, keep: { resource.store($0, $1) })
    (claimed, journalled) = try resource.claimed()
    scheduler = Scheduler(
      layout: layout, sources: sources.map(\.seed), claimed: claimed,
      connections: plan.connections, spanBlocks: plan.spanBlocks,
      reservedBlocks: plan.reservedBlocks, policy: limits.retry, now: Clocks.monotonic())
    carryOver = CarryOver(layout: layout, files: reuse)
    lookedAt = Dictionary(
      reuse.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { first, _ in first })
    ownBlocks = try resource.asReuseFile()
    var verifier = BlockVerifier(layout: layout)
    zeroLeaf = verifier.fullZeroLeaf()
    // What a local file may hold at the same place is not asked for before it was looked at.
    for run in carryOver.reserved.runs { _ = scheduler.withhold(run) }
    scheduler.holdsBack = carryOver.index != nil && layout.count > 1
    committer = Committer(resource) { failure in
      mailbox.change { $0.append(.committed(failure)) }
    }
  }

  /// Returns when every block was hashed by this process and is durable.
  ///
  /// - Throws: what ended the run, or the failure of a disk that could not keep what it had; every
  ///   verified block is kept, and durable unless it was the disk that failed.
  package func run(_ interruption: Interruption) throws(FetchFailure) {
    let mailbox = mailbox
    let observer = interruption.observe { signal in
      mailbox.change { $0.append(.interrupted(signal)) }
    }
    defer { observer.end() }
    let workers = VerifyWorkers(
      maximum: max(2, min(WorkThread.processorCount, 8)), resource: resource
    ) { outcome in mailbox.change { $0.append(.outcome(outcome)) } }
    do throws(FetchFailure) {
      try loop(workers)
      // A whole file may still be coming, of which nothing is missing any more.
      stop(workers)
      try committer.finish()
    } catch {
      stop(workers)
      drainOutcomes()
      // A disk that failed is not asked again; what it holds is found by a rerun.
      if error.category.exitCode() == 6 {
        committer.stop()
      } else {
        do throws(FetchFailure) { try committer.finish() } catch let disk {
          // Running again helps against most failures, and not against this one.
          if error.category != .interrupted { throw disk }
        }
      }
      throw error
    }
  }

  private func stop(_ workers: VerifyWorkers) {
    for transfer in transfers.values { transport.cancel(transfer) }
    workers.stop()
  }

  /// A turn that begins this many seconds later than it should says that the process was stopped or the
  /// machine slept.
  private static let longestDelay = 2.0

  private func loop(_ workers: VerifyWorkers) throws(FetchFailure) {
    var planned = Clocks.monotonic()
    while true {
      let now = Clocks.monotonic()
      if now - planned > Self.longestDelay { scheduler.passedOver(now - planned, now: now) }
      scheduler.arrived(bytes: arrived.total, now: now)
      for (span, arrived) in arrivals { scheduler.arrived(bytes: arrived.total, span: span) }
      lookForSources(now: now)
      scheduler.awaitsTiles = !tiles.isIdle
      for action in scheduler.next(now: now) { perform(action) }
      if !waiting.isEmpty { startWaiting() }
      try prove(workers)
      requestTiles(now: now)
      committer.tick(now: now)
      reportProgress(now: now, isLast: false)
      switch scheduler.verdict {
      case .failed(let failure):
        throw failure
      case .done where jobs == 0:
        reportProgress(now: now, isLast: true)
        return
      case .done, .running:
        break
      }
      let wake = min(scheduler.wakeAt ?? now + 1, now + (transfers.isEmpty ? 1 : 0.25))
      planned = max(wake, now + 0.001)
      let messages = mailbox.wait(until: planned) { messages -> [Message]? in
        defer { messages = [] }
        return messages.isEmpty ? nil : messages
      }
      for message in messages ?? [] { try handle(message) }
    }
  }

  private func lookForSources(now: Double) {
    guard now >= nextSourceLook else { return }
    nextSourceLook = now + 1
    guard let change = sourceChanges() else { return }
    for source in change.removed { scheduler.remove(source) }
    for source in change.added {
      sources.append(source)
      _ = scheduler.add(source.seed, now: now)
    }
  }

  // MARK: Doing

  func perform(_ action: Scheduler.Action) {
    switch action {
    case .start(let span): start(span)
    case .cancel(let id):
      if let transfer = transfers[id] { return transport.cancel(transfer) }
      // It never got the memory to begin with.
      guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
      waiting.remove(at: index)
      scheduler.ended(id, nil, now: Clocks.monotonic())
    case .record(let source, let record): report(.record(source, record))
    }
  }

  private func start(_ span: Span) {
    if !span.isWhole { tiles.want(span.blocks) }
    var reserved: [PooledBuffer] = []
    if span.usesHTTP2, !span.isWhole {
      // What libcurl takes in while such a stream is paused comes on top: a third leaves room for it.
      let count = SpanReceiver.buffersNeeded(span, layout: layout, pool: pool)
      let others = reservations.values.reduce(0, +)
      guard others == 0 || others + count <= pool.capacity / 3, let buffers = pool.take(count)
      else { return waiting.append(span) }
      reserved = buffers
      reservations[span.id] = count
    }
    let mailbox = mailbox
    let receiver = SpanReceiver(
      span, layout: layout, pool: pool, reserved: reserved, arrived: arrived
    ) { event in mailbox.change { $0.append(.span(event)) } }
    arrivals[span.id] = receiver.arrivedHere
    let manifest = resource.manifest
    var request = Request(
      url(SitePaths.file(manifest.version, manifest.file), at: span.source),
      range: span.isWhole ? nil : layout.bytes(of: span.blocks))
    request.isBulk = true
    request.version = span.usesHTTP2 ? .automatic : .http1
    request.needsFreshConnection = span.needsFreshConnection
    transfers[span.id] = transport.start(request, receiver)
  }

  func startWaiting() {
    let spans = waiting
    waiting = []
    for span in spans { start(span) }
  }

  private func url(_ path: String, at source: SourceID) -> WebURL {
    sources[source].base.appending(SitePaths.urlPath(path))
  }

  func add(_ job: VerifyWorkers.Job, to workers: VerifyWorkers) {
    jobs += 1
    workers.add(job)
  }

  private func requestTiles(now: Double) {
    guard !tiles.isIdle, scheduler.mayAsk(now: now) else { return }
    for (tile, source) in tiles.nextRequests(source: { scheduler.source(for: $0, now: now) }) {
      scheduler.requested(tile, from: source)
      let mailbox = mailbox
      let receiver = SmallReceiver(limit: tile.byteCount) { result in
        mailbox.change { $0.append(.tile(tile, result.map(\.body))) }
      }
      let url = url(SitePaths.tile(resource.manifest.version, tile), at: source)
      _ = transport.start(Request(url), receiver)
    }
  }

  /// After the workers have stopped: what they had verified counts, for the last commit.
  private func drainOutcomes() {
    let messages = mailbox.look { messages in
      defer { messages = [] }
      return messages
    }
    for case .outcome(let outcome) in messages where outcome.failure == nil {
      for blocks in outcome.verified {
        committer.add(blocks, bytes: layout.bytes(of: blocks).count, now: 0)
      }
    }
  }

  /// Who sent what so far, in the order of the sources.
  package var reports: [SourceReport] { scheduler.reports }

  private func reportProgress(now: Double, isLast: Bool) {
    guard isLast || now >= nextReport else { return }
    nextReport = now + 0.2
    let verified = scheduler.verified
    let lastIsDone = layout.count > 0 && verified.contains(layout.count - 1)
    let bytes =
      verified.count * layout.blockSize
      - (lastIsDone ? layout.blockSize - Int64(layout.length(of: layout.count - 1)) : 0)
    var progress = DownloadProgress(
      total: layout.size, verified: bytes, resumed: resumedBytes, reused: reusedBytes,
      rate: scheduler.rate(now: now), sources: scheduler.activeSources)
    progress.unhashed = min(layout.size - bytes, claimed.count * layout.blockSize)
    progress.wait = scheduler.silentUntil(now: now).map { $0 - now }
    if mapIsWanted() { progress.map = scheduler.map(carried: carried) }
    report(.progress(progress))
  }
}
