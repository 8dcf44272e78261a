import Failure
import MerkleTree
import System

/// What needs no network: proofs, blocks that are on this disk, zeros, equal blocks.
extension Downloader {
  /// Hands to the workers what can be proven now, and asks for the tiles of what cannot.
  func prove(_ workers: VerifyWorkers) throws(FetchFailure) {
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

  static let parallelLocalJobs = 4

  /// Up to so many blocks all leaves are known within a few round trips, and it pays to wait for them
  /// before more than one request for data is made.
  static let cheapCount: Int64 = 16_384

  /// The proven leaves of those blocks; nil, and their tiles asked for, while they are not proven.
  func leaves(of blocks: Range<Int64>) -> ProvenLeaves? {
    if let leaves = tiles.provenLeaves(blocks) { return leaves }
    tiles.want(blocks)
    return tiles.provenLeaves(blocks)
  }

  /// Starts one piece of work on what is on disk; false if there is none that can start now.
  func addLocalJob(_ workers: VerifyWorkers) throws(FetchFailure) -> Bool {
    let limit = Int64(pool.bufferSize) / layout.blockSize
    if let blocks = claimed.run(from: 0, limit: limit) {
      guard let leaves = leaves(of: blocks), let buffer = pool.take() else { return false }
      claimed.remove(blocks)
      #if FETCHRES_MUTANTS
        if Mutant.trustJournal.isChosen,
          journalled.count(in: blocks) == blocks.upperBound - blocks.lowerBound
        {
          verified(blocks, .claim, span: nil, now: Clocks.monotonic())
          return try addLocalJob(workers)
        }
      #endif
      add(.claimed(buffer, blocks: blocks, leaves: leaves), to: workers)
      return true
    }
    // A whole file that comes may have brought many of them.
    while let move = moves.last, scheduler.isVerified(move.to..<move.to + 1) { moves.removeLast() }
    if let (file, from, to) = moves.last {
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
  func learn(_ workers: VerifyWorkers) {
    takeLearned(workers)
    // The tiles come ahead of the data as far as they are cheap. Each is learned as it comes, before
    // others push it out; what was pushed out nevertheless has its turn once more.
    while let index = carryOver.index, !index.isComplete,
      tiles.outstanding < TileLoader.parallelRequests
    {
      if tilesWanted >= layout.count {
        guard tiles.isIdle else { break }
        tilesWanted = 0
      }
      let next = tilesWanted..<min(layout.count, tilesWanted + Int64(Tile.width))
      tilesWanted = next.upperBound
      guard !index.hasLearned(next) else { continue }
      tiles.want(next)
      takeLearned(workers)
      if let leaves = tiles.provenLeaves(next) { learn(next, leaves, workers) }
    }
  }

  private func takeLearned(_ workers: VerifyWorkers) {
    for blocks in tiles.takeLearned() {
      guard let leaves = tiles.provenLeaves(blocks) else { continue }
      learn(blocks, leaves, workers)
    }
  }

  private func learn(_ blocks: Range<Int64>, _ leaves: ProvenLeaves, _ workers: VerifyWorkers) {
    addZeros(blocks, leaves, workers)
    carryOver.learn(blocks, leaves)
    if layout.count > Self.cheapCount { scheduler.holdsBack = false }
    guard carryOver.index?.isComplete == true, !hasPaired else { return }
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

  /// Full blocks of zeros among those need no bytes from anywhere.
  func addZeros(
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
  func withholds(_ block: Int64) -> Bool {
    carryOver.take(block) || !scheduler.withhold(block..<block + 1).isEmpty
  }
}
