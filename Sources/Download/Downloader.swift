import Crypto
import Failure
import Manifest
import MerkleTree
import Storage
import System
import Transport

/// What a run may use.
package struct DownloadLimits: Sendable {
  package var connections = 8
  /// Bytes for buffers and tiles.
  package var memory: Int64 = 64 << 20
  package var retry = RetryPolicy()

  package init() {}
}

/// How far a download is. Byte counts are of verified bytes.
package struct DownloadProgress: Sendable, Equatable {
  package var total: Int64
  package var verified: Int64
  /// Of those, what was already on disk when the run began.
  package var resumed: Int64
  /// Of those, what was taken from other files on this disk, from equal blocks, or is zeros.
  package var reused: Int64
  /// Bytes a second from the network over the last seconds; nil while unknown.
  package var rate: Double?

  package init(
    total: Int64 = 0, verified: Int64 = 0, resumed: Int64 = 0, reused: Int64 = 0,
    rate: Double? = nil
  ) {
    self.total = total
    self.verified = verified
    self.resumed = resumed
    self.reused = reused
    self.rate = rate
  }
}

package enum DownloadEvent: Sendable {
  case progress(DownloadProgress)
  /// A block from the source did not verify, or one that was on disk no longer does.
  case blockRejected(FetchFailure, wasOnDisk: Bool)
  case sourceFailed(FetchFailure)
}

/// Brings every missing block of one release into its partial directory: performs what the scheduler
/// decides, and tells it what happened. Runs on the thread that calls ``run()``.
package final class Downloader {
  private let resource: PartialResource
  private let layout: BlockLayout
  private let transport: any Transport
  private let base: WebURL
  private let limits: DownloadLimits
  private let report: (DownloadEvent) -> Void
  private let mailbox: Monitor<[Message]>

  private var scheduler: Scheduler
  private var tiles: TileLoader
  private let pool: BufferPool
  private let arrived = ArrivedBytes()
  private var transfers: [Span.ID: TransferID] = [:]
  /// Buffers whose tiles are not authenticated yet: held, unwritten.
  private var parked: [(PooledBuffer, Range<Int64>, Span.ID)] = []
  /// Claims that are not hashed yet.
  private var claimed: BlockSet
  private let journalled: BlockSet
  private var carryOver: CarryOver
  private let ownBlocks: ReuseFile
  private var tilesWanted: Int64 = 0
  /// Blocks of local files that belong elsewhere than they stand.
  private var moves: [(ReuseFile, from: Int64, to: Int64)] = []
  private let zeroLeaf: Digest
  private var hasPaired = false
  private let lookedAt: [ObjectIdentifier: ReuseFile]
  private var jobs = 0
  private var localJobs = 0
  private var looks = 0
  private var pendingLook: (file: ReuseFile, blocks: Range<Int64>)?
  private var resumedBytes: Int64 = 0
  private var reusedBytes: Int64 = 0
  private var committer: Committer
  private var nextReport = 0.0

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
    _ resource: PartialResource, transport: any Transport, base: WebURL, limits: DownloadLimits,
    reuse: [ReuseFile] = [], report: @escaping (DownloadEvent) -> Void
  ) throws(FetchFailure) {
    self.resource = resource
    self.transport = transport
    self.base = base
    self.limits = limits
    self.report = report
    layout = resource.manifest.layout
    let mailbox = Monitor<[Message]>([])
    self.mailbox = mailbox

    let plan = MemoryPlan(layout: layout, memory: limits.memory)
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
      layout: layout, claimed: claimed, connections: min(limits.connections, plan.buffers),
      policy: limits.retry, now: Clocks.monotonic())
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

  /// Returns when every block was hashed by this process and is written.
  ///
  /// - Throws: what ended the run; every verified block is kept, and durable unless it was the disk
  ///   that failed.
  package func run(_ interruption: Interruption) throws(FetchFailure) {
    let mailbox = mailbox
    let observer = interruption.observe { signal in
      mailbox.change { $0.append(.interrupted(signal)) }
    }
    defer { observer.end() }
    let workers = VerifyWorkers(
      count: max(2, min(WorkThread.processorCount, 8)), resource: resource
    ) { outcome in mailbox.change { $0.append(.outcome(outcome)) } }
    do throws(FetchFailure) {
      try loop(workers)
      workers.stop()
      committer.stop()
    } catch {
      for transfer in transfers.values { transport.cancel(transfer) }
      workers.stop()
      drainOutcomes()
      // A disk that failed is not asked again; what it holds is found by a rerun.
      if error.category.exitCode() != 6 { try? committer.finish() }
      committer.stop()
      throw error
    }
  }

  private func loop(_ workers: VerifyWorkers) throws(FetchFailure) {
    while true {
      let now = Clocks.monotonic()
      scheduler.arrived(bytes: arrived.total, now: now)
      for action in scheduler.next(now: now) { perform(action) }
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
      let messages = mailbox.wait(until: max(wake, now + 0.001)) { messages -> [Message]? in
        defer { messages = [] }
        return messages.isEmpty ? nil : messages
      }
      for message in messages ?? [] { try handle(message) }
    }
  }

  // MARK: Doing

  private func perform(_ action: Scheduler.Action) {
    switch action {
    case .start(let span):
      let mailbox = mailbox
      let receiver = SpanReceiver(span, layout: layout, pool: pool, arrived: arrived) { event in
        mailbox.change { $0.append(.span(event)) }
      }
      var request = Request(
        base.appending(
          SitePaths.urlPath(
            SitePaths.file(resource.manifest.version, resource.manifest.file))),
        range: span.isWhole ? nil : layout.bytes(of: span.blocks))
      request.needsFreshConnection = span.needsFreshConnection
      transfers[span.id] = transport.start(request, receiver)
      if !span.isWhole { tiles.want(span.blocks) }
    case .cancel(let id):
      if let transfer = transfers[id] { transport.cancel(transfer) }
    }
  }

  /// Hands to the workers what can be proven now, and asks for the tiles of what cannot.
  private func prove(_ workers: VerifyWorkers) throws(FetchFailure) {
    learn(workers)
    var waiting: [(PooledBuffer, Range<Int64>, Span.ID)] = []
    for (buffer, blocks, span) in parked {
      guard !scheduler.isVerified(blocks) else { continue }
      guard let leaves = leaves(of: blocks) else {
        waiting.append((buffer, blocks, span))
        continue
      }
      add(.received(buffer, blocks: blocks, leaves: leaves, span: span), to: workers)
    }
    parked = waiting
    // What may be on disk is hashed while the network works, a few pieces at a time.
    while localJobs < Self.parallelLocalJobs, try addLocalJob(workers) { localJobs += 1 }
  }

  private static let parallelLocalJobs = 4

  /// Up to so many blocks all leaves are known within a few round trips, and it pays to wait for them
  /// before more than one request for data is made.
  private static let cheapCount: Int64 = 16_384

  /// The proven leaves of those blocks; nil, and their tiles asked for, while they are not proven.
  private func leaves(of blocks: Range<Int64>) -> ProvenLeaves? {
    if let leaves = tiles.provenLeaves(blocks) { return leaves }
    tiles.want(blocks)
    return tiles.provenLeaves(blocks)
  }

  /// Starts one piece of work on what is on disk; false if there is none that can start now.
  private func addLocalJob(_ workers: VerifyWorkers) throws(FetchFailure) -> Bool {
    let limit = Int64(pool.bufferSize) / layout.blockSize
    if let blocks = claimed.run(from: 0, limit: limit) {
      guard let leaves = leaves(of: blocks), let buffer = pool.take() else { return false }
      claimed.remove(blocks)
      add(.claimed(buffer, blocks: blocks, leaves: leaves), to: workers)
      return true
    }
    if let (file, from, to) = moves.last {
      guard scheduler.isVerified(to..<to + 1) == false else {
        moves.removeLast()
        return try addLocalJob(workers)
      }
      guard let leaves = leaves(of: to..<to + 1), let buffer = pool.take() else { return false }
      moves.removeLast()
      add(.move(buffer, file, from: from, to: to, leaves: leaves), to: workers)
      return true
    }
    if pendingLook == nil { pendingLook = carryOver.nextLook(limit: limit) }
    guard let (file, blocks) = pendingLook else {
      if looks == 0, carryOver.isExhausted, !carryOver.reserved.isEmpty {
        for run in carryOver.releaseAll() { scheduler.want(run) }
      }
      return false
    }
    let isInside = blocks.upperBound <= layout.count
    let leaves = isInside ? leaves(of: blocks) : nil
    guard leaves != nil || !isInside, let buffer = pool.take() else { return false }
    pendingLook = nil
    looks += 1
    add(.look(buffer, file, blocks: blocks, leaves: leaves), to: workers)
    return true
  }

  /// Looks at the leaves that were proven since: zeros need no bytes, equal blocks are fetched once.
  private func learn(_ workers: VerifyWorkers) {
    // The tiles come ahead of the data as far as they are cheap.
    while carryOver.index?.isComplete == false, tilesWanted < layout.count,
      tiles.outstanding < TileLoader.parallelRequests
    {
      let next = tilesWanted..<min(layout.count, tilesWanted + Int64(Tile.width))
      tilesWanted = next.upperBound
      tiles.want(next)
    }
    for blocks in tiles.takeLearned() {
      guard let leaves = tiles.provenLeaves(blocks) else { continue }
      addZeros(blocks, leaves, workers)
      carryOver.learn(blocks, leaves)
      if layout.count > Self.cheapCount { scheduler.holdsBack = false }
      guard carryOver.index?.isComplete == true, !hasPaired else { continue }
      hasPaired = true
      scheduler.holdsBack = false
      let (scheduler, reserved) = (scheduler, carryOver.reserved)
      let followers = carryOver.pairTwins {
        scheduler.isMissing($0) || reserved.contains($0)
      }
      for block in followers { _ = withholds(block) }
      for (leader, followers) in carryOver.takeFollowers(where: {
        scheduler.isVerified($0..<$0 + 1)
      }) {
        moves += followers.map { (ownBlocks, leader, $0) }
      }
    }
  }

  /// Full blocks of zeros among those need no bytes from anywhere.
  private func addZeros(
    _ blocks: Range<Int64>, _ leaves: ProvenLeaves, _ workers: VerifyWorkers
  ) {
    var run = blocks.lowerBound..<blocks.lowerBound
    for block in blocks {
      let isZero =
        leaves[block] == zeroLeaf && block < layout.size / layout.blockSize && withholds(block)
      if isZero, run.upperBound == block {
        run = run.lowerBound..<block + 1
        continue
      }
      if !run.isEmpty { add(.zeros(blocks: run, leaves: leaves), to: workers) }
      run = isZero ? block..<block + 1 : block + 1..<block + 1
    }
    if !run.isEmpty { add(.zeros(blocks: run, leaves: leaves), to: workers) }
  }

  /// Takes a block out of what is to be fetched and of what waits for a local file, because it comes
  /// from elsewhere.
  ///
  /// - Returns: whether it was in either; otherwise somebody works on it, or it is there.
  private func withholds(_ block: Int64) -> Bool {
    carryOver.take(block) || !scheduler.withhold(block..<block + 1).isEmpty
  }

  private func add(_ job: VerifyWorkers.Job, to workers: VerifyWorkers) {
    jobs += 1
    workers.add(job)
  }

  private func requestTiles(now: Double) {
    guard !tiles.isIdle, scheduler.mayAsk(now: now) else { return }
    for tile in tiles.nextRequests() {
      let mailbox = mailbox
      let url = base.appending(SitePaths.urlPath(SitePaths.tile(resource.manifest.version, tile)))
      let receiver = SmallReceiver(limit: tile.byteCount) { result in
        mailbox.change { $0.append(.tile(tile, result.map(\.body))) }
      }
      _ = transport.start(Request(url), receiver)
    }
  }

  // MARK: Hearing

  private func handle(_ message: Message) throws(FetchFailure) {
    let now = Clocks.monotonic()
    switch message {
    case .span(.filled(let buffer, let blocks, let span)):
      scheduler.received(blocks, span: span)
      parked.append((buffer, blocks, span))
    case .span(.ended(let span, let failure)):
      transfers[span] = nil
      scheduler.ended(span, failure, now: now)
      if let failure, failure.category != .interrupted { report(.sourceFailed(failure)) }
    case .tile(let tile, .success(let bytes)):
      for (tile, failure) in tiles.received(tile, bytes) {
        scheduler.tileFailed(tile, failure, now: now)
        report(.sourceFailed(failure))
      }
    case .tile(let tile, .failure(let failure)):
      tiles.failed(tile)
      scheduler.tileFailed(tile, failure, now: now)
      report(.sourceFailed(failure))
    case .outcome(let outcome):
      try handle(outcome, now: now)
    case .committed(let failure):
      committer.hasCommitted()
      if let failure { throw failure }
    case .bufferIsFree:
      break
    case .interrupted(let signal):
      throw Interruption.failure(signal)
    }
  }

  private func handle(_ outcome: VerifyWorkers.Outcome, now: Double) throws(FetchFailure) {
    jobs -= 1
    var span: Span.ID?
    switch outcome.origin {
    case .span(let id): span = id
    case .zeros: break
    case .look:
      looks -= 1
      localJobs -= 1
    case .claim, .move: localJobs -= 1
    }
    if let failure = outcome.failure { throw failure }
    for blocks in outcome.verified { verified(blocks, outcome.origin, span: span, now: now) }
    for failure in outcome.rejected {
      guard let block = failure.block else { continue }
      try rejected(block, failure, outcome.origin, now: now)
    }
    if case .look(let id) = outcome.origin {
      propose(outcome.elsewhere, id)
      for run in carryOver.looked(at: outcome.blocks) { scheduler.want(run) }
    }
  }

  private func verified(
    _ blocks: Range<Int64>, _ origin: VerifyWorkers.Origin, span: Span.ID?, now: Double
  ) {
    var fresh: Int64 = 0
    if !scheduler.isVerified(blocks) {
      fresh = layout.bytes(of: blocks).upperBound - layout.bytes(of: blocks).lowerBound
    }
    scheduler.verified(blocks, span: span, now: now)
    let isJournalled =
      origin == .claim && journalled.count(in: blocks) == blocks.upperBound - blocks.lowerBound
    if !isJournalled { committer.add(blocks, bytes: layout.bytes(of: blocks).count, now: now) }
    switch origin {
    case .span: break
    case .claim: resumedBytes += fresh
    case .look, .move, .zeros: reusedBytes += fresh
    }
    for block in blocks {
      moves += carryOver.takeFollowers(of: block).map { (ownBlocks, block, $0) }
    }
  }

  private func rejected(
    _ block: Int64, _ failure: FetchFailure, _ origin: VerifyWorkers.Origin, now: Double
  ) throws(FetchFailure) {
    switch origin {
    case .span(let span):
      let failure = failure.from(base.shown)
      for action in scheduler.rejected(block, span: span, failure, now: now) { perform(action) }
      report(.blockRejected(failure, wasOnDisk: false))
    case .claim:
      // A local file may have it; if none does, it is released with what that file covers.
      if !carryOver.reserved.contains(block) { scheduler.lost(block) }
      // What a crash left half written was never claimed, and is no news.
      if journalled.contains(block) { report(.blockRejected(failure, wasOnDisk: true)) }
    case .move, .zeros:
      if !carryOver.reserved.contains(block) { scheduler.lost(block) }
    case .look:
      break
    }
  }

  /// Blocks of a local file that may belong elsewhere in the resource.
  private func propose(_ found: [(block: Int64, leaf: Digest)], _ id: ObjectIdentifier) {
    guard let file = lookedAt[id] else { return }
    for (block, leaf) in found {
      for place in carryOver.places(of: leaf) where !scheduler.isVerified(place..<place + 1) {
        // One that somebody works on comes anyway.
        if withholds(place) { moves.append((file, block, place)) }
      }
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

  private func reportProgress(now: Double, isLast: Bool) {
    guard isLast || now >= nextReport else { return }
    nextReport = now + 0.2
    let verified = scheduler.verified
    let lastIsDone = layout.count > 0 && verified.contains(layout.count - 1)
    let bytes =
      verified.count * layout.blockSize
      - (lastIsDone ? layout.blockSize - Int64(layout.length(of: layout.count - 1)) : 0)
    report(
      .progress(
        DownloadProgress(
          total: layout.size, verified: bytes, resumed: resumedBytes, reused: reusedBytes,
          rate: scheduler.rate(now: now))))
  }
}
