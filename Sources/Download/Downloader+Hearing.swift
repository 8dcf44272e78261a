import Crypto
import Failure
import MerkleTree
import System

/// What other threads tell the driver.
extension Downloader {
  func handle(_ message: Message) throws(FetchFailure) {
    let now = Clocks.monotonic()
    switch message {
    case .span(.filled(let buffer, let blocks, let span)):
      scheduler.received(blocks, span: span, now: now)
      parked.append((buffer, blocks, span))
    case .span(.ended(let span, let failure)):
      (transfers[span], arrivals[span]) = (nil, nil)
      reservations[span] = nil
      scheduler.ended(span, failure, now: now)
      if let failure, failure.category != .interrupted { report(.sourceFailed(failure)) }
    case .tile(let tile, .success(let bytes)):
      let wanted = tiles.outstanding
      for (tile, failure) in tiles.received(tile, bytes) { tileFailed(tile, failure, now: now) }
      if tiles.outstanding < wanted { scheduler.received(tile, now: now) }
    case .tile(let tile, .failure(let failure)):
      for (tile, failure) in tiles.failed(tile, failure) { tileFailed(tile, failure, now: now) }
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

  private func tileFailed(_ tile: TileAddress, _ failure: FetchFailure, now: Double) {
    let failure =
      scheduler.source(asked: tile).map { failure.from(sources[$0].seed.name) } ?? failure
    scheduler.tileFailed(tile, failure, now: now)
    report(.sourceFailed(failure))
  }

  func handle(_ outcome: VerifyWorkers.Outcome, now: Double) throws(FetchFailure) {
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

  func verified(
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
    if span == nil, fresh > 0 { carried.add(blocks) }
    for block in blocks {
      moves += carryOver.takeFollowers(of: block).map { (ownBlocks, block, $0) }
    }
  }

  func rejected(
    _ block: Int64, _ failure: FetchFailure, _ origin: VerifyWorkers.Origin, now: Double
  ) throws(FetchFailure) {
    switch origin {
    case .span(let span):
      let failure = failure.from(scheduler.name(of: span))
      scheduler.rejected(block, span: span, failure, now: now)
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
  func propose(_ found: [(block: Int64, leaf: Digest)], _ id: ObjectIdentifier) {
    guard let file = lookedAt[id] else { return }
    for (block, leaf) in found {
      guard let place = carryOver.place(of: leaf), !scheduler.isVerified(place..<place + 1) else {
        continue
      }
      // One that somebody works on comes anyway.
      if withholds(place) { moves.append((file, block, place)) }
    }
  }
}
