import Failure
import Glibc
import Manifest
import MerkleTree
import Storage
import System
import TestSupport
import Testing

@testable import Download

/// The driver with an honest source in memory: that it comes to its end, with as little memory as can
/// be asked for.
@Suite struct DownloaderTests {
  private let fileSystem = MemoryFileSystem()

  /// Runs a download into `/data`, with as little memory as possible.
  ///
  /// - Returns: what was asked of the source.
  @discardableResult
  private func download(
    _ made: MadeResource, reuse: [ReuseFile] = [], pieceSize: Int = 10_000,
    committingAtOnce: Bool = false, prepare: (any Directory) throws -> Void = { _ in },
    report: @escaping (DownloadEvent) -> Void = { _ in }
  ) throws -> [String] {
    let directory = try ResourceDirectory.make("/data", fileSystem)
    let lock = try directory.lock()
    let name = PartialResource.name(of: made.manifest)
    if directory.partialNames().contains(name) {
      try prepare(try fileSystem.openDirectory("/data/.fetchres/partial/\(name)"))
    }
    let resource = try directory.openUnfinished(made.manifest, note: made.note, lock)
    let transport = MemoryTransport(made, pieceSize: pieceSize)
    defer { transport.stop() }
    var limits = DownloadLimits()
    limits.memory = 1
    limits.retry.giveUpAfter = 20
    let downloader = try Downloader(
      resource, transport: transport,
      sources: [DownloadSource(MemoryTransport.base, SourceSeed(name: "https://a.example/"))],
      limits: limits, reuse: reuse
    ) { event in
      if case .sourceFailed(let failure) = event { Issue.record("\(failure)") }
      report(event)
    }
    if committingAtOnce { downloader.committer.batchTime = 0 }
    // A run that does not end is ended, and has failed.
    let (interruption, isOver) = (Interruption(), Monitor(false))
    let watch = WorkThread("watch") {
      if isOver.wait(until: Clocks.monotonic() + 60, { $0 ? true : nil }) == nil {
        interruption.raise(Interruption.interrupt)
      }
    }
    defer {
      isOver.change { $0 = true }
      watch.join()
    }
    try downloader.run(interruption)
    let blocks = try resource.openBlocks()
    #expect(try blocks.readAll("blocks", limit: 1 << 24) == made.content)
    return transport.requests
  }

  @Test(arguments: [1, 16, 4_096] as [Int64], [1, 1_000, 524_288])
  func `every block arrives, whatever the sizes of blocks and pieces`(
    _ blockSize: Int64, _ pieceSize: Int
  ) throws {
    let made = try MadeResource("1.0", release: 0, seed: 4, blockSize: blockSize, size: 9_000)
    try download(made, pieceSize: pieceSize)
  }

  @Test func `blocks that are larger than half the buffers arrive`() throws {
    // Two buffers of this size are all that there is.
    let made = try MadeResource(
      "1.0", release: 0, seed: 5, blockSize: 4 << 20, size: 13 << 20)
    try download(made, pieceSize: 300_000)
  }

  @Test func `tiles that do not all fit into memory are no reason to wait for ever`() throws {
    let made = try MadeResource("1.0", release: 0, seed: 6, blockSize: 128, size: 128 * 16_300)
    let plan = MemoryPlan(layout: made.manifest.layout, memory: 1)
    try #require(Int64(plan.leafTiles) < TreeShape(count: 16_300).tileCount(level: 0))
    try download(made)
    // Again with all tiles on disk, and no block.
    let requests = try download(made) { work in
      try work.remove("blocks")
      try work.remove("journal")
    }
    #expect(!requests.contains { $0.contains("/tile/") })
  }

  @Test func `nor with another version to take blocks from`() throws {
    let old = try MadeResource("1.0", release: 0, seed: 7, blockSize: 64, size: 64 * 20_000)
    let made = try MadeResource("2.0", release: 1, seed: 8, blockSize: 64, size: 64 * 20_000)
    try DiskPull(fileSystem: fileSystem).run(old)
    let file = try fileSystem.openFile("/data/1.0/world.map")
    try download(made, reuse: [ReuseFile(file, size: 64 * 20_000)])
    try download(made, reuse: [ReuseFile(file, size: 64 * 20_000)]) { work in
      try work.remove("blocks")
      try work.remove("journal")
    }
  }

  @Test func `as many moves as there are to blocks that have arrived meanwhile take no stack`()
    throws
  {
    let made = try MadeResource("1.0", release: 0, seed: 10, blockSize: 1_000, size: 9_000)
    let directory = try ResourceDirectory.make("/data", fileSystem)
    let lock = try directory.lock()
    let resource = try directory.openUnfinished(made.manifest, note: made.note, lock)
    let transport = MemoryTransport(made)
    defer { transport.stop() }
    let downloader = try Downloader(
      resource, transport: transport,
      sources: [DownloadSource(MemoryTransport.base, SourceSeed(name: "https://a.example/"))],
      limits: DownloadLimits()
    ) { _ in }
    downloader.scheduler.verified(0..<9, span: nil, now: Clocks.monotonic())
    downloader.moves = (0..<200_000).map { (downloader.ownBlocks, from: 0, to: $0 % 8 + 1) }
    let workers = VerifyWorkers(maximum: 1, resource: resource) { _ in }
    defer { workers.stop() }
    let isAdded = try downloader.addLocalJob(workers)
    #expect(!isAdded && downloader.moves.isEmpty)
  }

  // covers: F25
  @Test func `a sync that fails when all blocks have arrived ends the run all the same`() throws {
    let made = try MadeResource("1.0", release: 0, seed: 9, blockSize: 1_000, size: 9_000)
    // The disk takes as long as the download does, fails, and then knows nothing of it any more.
    let (isFetched, hasFailed) = (Monitor(false), Monitor(false))
    fileSystem.onOperation = { operation throws(SystemError) in
      guard operation.kind == .syncData, operation.path.hasSuffix("/blocks") else { return }
      _ = isFetched.wait(until: Clocks.monotonic() + 60) { $0 ? true : nil }
      let isFirst = hasFailed.change { hasFailed in
        defer { hasFailed = true }
        return !hasFailed
      }
      if isFirst { throw SystemError(EIO, "fdatasync", path: operation.path) }
    }
    let failure = #expect(throws: FetchFailure.self) {
      try download(
        made, committingAtOnce: true,
        report: { event in
          guard case .progress(let progress) = event, progress.verified == 9_000 else { return }
          isFetched.change { $0 = true }
        })
    }
    #expect(failure?.category == .ioError)
    #expect(hasFailed.look { $0 })
    // What that sync lost is fetched again.
    try download(made)
  }
}
