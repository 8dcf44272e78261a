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
  /// Bytes a second from the network over the last seconds; nil while unknown.
  package var rate: Double?

  package init(total: Int64 = 0, verified: Int64 = 0, resumed: Int64 = 0, rate: Double? = nil) {
    (self.total, self.verified, self.resumed, self.rate) = (total, verified, resumed, rate)
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
  private var jobs = 0
  private var hashJobs = 0
  private var resumedBytes: Int64 = 0
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
    report: @escaping (DownloadEvent) -> Void
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
    var waiting: [(PooledBuffer, Range<Int64>, Span.ID)] = []
    for (buffer, blocks, span) in parked {
      guard !scheduler.isVerified(blocks) else { continue }
      guard let leaves = tiles.provenLeaves(blocks) else {
        tiles.want(blocks)
        if let leaves = tiles.provenLeaves(blocks) {
          add(.received(buffer, blocks: blocks, leaves: leaves, span: span), to: workers)
        } else {
          waiting.append((buffer, blocks, span))
        }
        continue
      }
      add(.received(buffer, blocks: blocks, leaves: leaves, span: span), to: workers)
    }
    parked = waiting

    // Blocks that may be on disk are hashed while the network works, a few at a time.
    let blocksPerBuffer = Int64(pool.bufferSize) / layout.blockSize
    while hashJobs < 4, let blocks = claimed.run(from: 0, limit: blocksPerBuffer) {
      if tiles.provenLeaves(blocks) == nil { tiles.want(blocks) }
      guard let leaves = tiles.provenLeaves(blocks), let buffer = pool.take() else { break }
      claimed.remove(blocks)
      hashJobs += 1
      add(.onDisk(buffer, blocks: blocks, leaves: leaves), to: workers)
    }
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
    if let failure = outcome.failure { throw failure }
    for blocks in outcome.verified {
      scheduler.verified(blocks, span: outcome.span, now: now)
      let bytes = layout.bytes(of: blocks)
      if outcome.span == nil { resumedBytes += bytes.upperBound - bytes.lowerBound }
      if outcome.span != nil
        || journalled.count(in: blocks) != blocks.upperBound - blocks.lowerBound
      {
        committer.add(blocks, bytes: bytes.count, now: now)
      }
    }
    if outcome.span == nil { hashJobs -= 1 }
    for failure in outcome.rejected {
      guard let block = failure.block else { continue }
      if let span = outcome.span {
        let failure = failure.from(base.shown)
        for action in scheduler.rejected(block, span: span, failure, now: now) { perform(action) }
        report(.blockRejected(failure, wasOnDisk: false))
      } else {
        scheduler.lost(block)
        // What a crash left half written was never claimed, and is no news.
        if journalled.contains(block) { report(.blockRejected(failure, wasOnDisk: true)) }
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
          total: layout.size, verified: bytes, resumed: resumedBytes,
          rate: scheduler.rate(now: now))))
  }
}

/// How the memory of a run is divided.
struct MemoryPlan: Equatable {
  var bufferSize: Int
  var buffers: Int
  var leafTiles: Int

  /// Small blocks travel together.
  static let preferredBufferSize: Int64 = 256 << 10

  init(layout: BlockLayout, memory: Int64) {
    let block = layout.blockSize
    let blocksPerBuffer = max(1, Self.preferredBufferSize / block)
    bufferSize = Int(block * min(blocksPerBuffer, max(1, layout.count)))
    // Two block sets of one bit a block, 32 bytes for every full tile.
    let fixed = layout.count / 8 * 3 + layout.count / 256 * 32
    let budget = max(memory, 2 * block + 8 << 20) - fixed
    leafTiles = Int(max(16, min(budget / 8, 8 << 20) / 16_384))
    let forBuffers = budget - Int64(leafTiles) * 16_384
    buffers = Int(max(2, min(forBuffers / Int64(bufferSize), 512)))
  }
}
