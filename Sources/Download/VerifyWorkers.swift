import Crypto
import Failure
import MerkleTree
import System

/// Threads that hash blocks against proven leaves and write what verifies. Bytes from the network go
/// before bytes from disk.
final class VerifyWorkers: Sendable {
  enum Job: Sendable {
    /// Whole blocks as they came from a source.
    case received(PooledBuffer, blocks: Range<Int64>, leaves: ProvenLeaves, span: Span.ID)
    /// Blocks that may be in place already.
    case claimed(PooledBuffer, blocks: Range<Int64>, leaves: ProvenLeaves)
    /// Blocks of a local file, against the leaves of the same place; nil behind the end of the
    /// resource.
    case look(PooledBuffer, ReuseFile, blocks: Range<Int64>, leaves: ProvenLeaves?)
    /// One block of a local file, for another place.
    case move(PooledBuffer, ReuseFile, from: Int64, to: Int64, leaves: ProvenLeaves)
    /// Full blocks of zeros.
    case zeros(blocks: Range<Int64>, leaves: ProvenLeaves)
  }

  enum Origin: Sendable, Equatable {
    case span(Span.ID)
    case claim
    case look(ObjectIdentifier)
    case move
    case zeros
  }

  struct Outcome: Sendable {
    var origin: Origin
    var blocks: Range<Int64>
    var verified: [Range<Int64>] = []
    var rejected: [FetchFailure] = []
    /// The leaf hashes of looked-at blocks that do not belong where they stand.
    var elsewhere: [(block: Int64, leaf: Digest)] = []
    /// What ended the work, if the disk did.
    var failure: FetchFailure?
  }

  private struct Queue: Sendable {
    var received: [Job] = []
    var local: [Job] = []
    /// Jobs that were taken and are not reported yet.
    var working = 0
    var threads: [WorkThread] = []
    var stops = false

    mutating func take() -> Job?? {
      if stops { return .some(nil) }
      guard !received.isEmpty || !local.isEmpty else { return nil }
      working += 1
      return received.isEmpty ? local.removeFirst() : received.removeFirst()
    }

    /// Whether somebody would have to wait although another thread is allowed.
    func isShort(maximum: Int) -> Bool {
      received.count + local.count + working > threads.count && threads.count < maximum
    }
  }

  private let queue = Monitor(Queue())
  private let maximum: Int
  private let start: @Sendable () -> WorkThread

  /// - Parameter maximum: how many threads at most. There are as many as there was work for at once:
  ///   where the network is slower than hashing, one.
  init(
    maximum: Int, resource: PartialResource, report: @escaping @Sendable (Outcome) -> Void
  ) {
    self.maximum = maximum
    start = { [queue] in
      WorkThread("verify") {
        var worker = VerifyWorker(resource: resource)
        while let job = queue.wait({ $0.take() }) ?? nil {
          report(worker.perform(job))
          queue.look { $0.working -= 1 }
        }
      }
    }
  }

  func add(_ job: Job) {
    queue.change { queue in
      switch job {
      case .received: queue.received.append(job)
      case .claimed, .look, .move, .zeros: queue.local.append(job)
      }
      if queue.isShort(maximum: maximum) { queue.threads.append(start()) }
    }
  }

  /// Drops what is queued and waits for what is being worked on.
  func stop() {
    let threads = queue.change { queue in
      defer { queue = Queue(stops: true) }
      return queue.threads
    }
    for thread in threads { thread.join() }
  }
}

/// What one thread does with a job.
private struct VerifyWorker: ~Copyable {
  let resource: PartialResource
  var verifier: BlockVerifier

  init(resource: PartialResource) {
    self.resource = resource
    verifier = BlockVerifier(layout: resource.manifest.layout)
  }

  private var layout: BlockLayout { resource.manifest.layout }

  mutating func perform(_ job: VerifyWorkers.Job) -> VerifyWorkers.Outcome {
    switch job {
    case .received(let buffer, let blocks, let leaves, let span):
      return outcome(.span(span), blocks) { worker, outcome throws(FetchFailure) in
        try worker.verify(buffer, blocks, leaves, writes: true, &outcome)
      }
    case .claimed(let buffer, let blocks, let leaves):
      return outcome(.claim, blocks) { worker, outcome throws(FetchFailure) in
        try worker.resource.read(blocks, into: buffer.bytes)
        try worker.verify(buffer, blocks, leaves, writes: false, &outcome)
      }
    case .look(let buffer, let file, let blocks, let leaves):
      return outcome(.look(ObjectIdentifier(file)), blocks) {
        worker, outcome throws(FetchFailure) in
        try worker.look(buffer, file, blocks, leaves, &outcome)
      }
    case .move(let buffer, let file, let from, let to, let leaves):
      return outcome(.move, to..<to + 1) { worker, outcome throws(FetchFailure) in
        let length = worker.layout.length(of: to)
        guard worker.read(file, from, buffer, length) == length else {
          outcome.rejected = [
            FetchFailure(.blockMismatch, "block \(from) of the local file is gone", block: to)
          ]
          return
        }
        try worker.verify(buffer, to..<to + 1, leaves, writes: true, &outcome)
      }
    case .zeros(let blocks, let leaves):
      return outcome(.zeros, blocks) { worker, outcome throws(FetchFailure) in
        let resource = worker.resource
        let wasLent = try worker.verifier.verifyZeros(blocks: blocks, leaves: leaves) {
          verified throws(FetchFailure) in
          try resource.write(verified)
        }
        if wasLent {
          outcome.verified = [blocks]
        } else {
          outcome.rejected = blocks.map {
            FetchFailure(.blockMismatch, "block \($0) is not all zeros", block: $0)
          }
        }
      }
    }
  }

  private mutating func outcome(
    _ origin: VerifyWorkers.Origin, _ blocks: Range<Int64>,
    _ work: (inout VerifyWorker, inout VerifyWorkers.Outcome) throws(FetchFailure) -> Void
  ) -> VerifyWorkers.Outcome {
    var outcome = VerifyWorkers.Outcome(origin: origin, blocks: blocks)
    do throws(FetchFailure) { try work(&self, &outcome) } catch { outcome.failure = error }
    return outcome
  }

  private mutating func verify(
    _ buffer: PooledBuffer, _ blocks: Range<Int64>, _ leaves: ProvenLeaves, writes: Bool,
    _ outcome: inout VerifyWorkers.Outcome
  ) throws(FetchFailure) {
    let bytes = UnsafeRawBufferPointer(
      rebasing: buffer.bytes[..<layout.bytes(of: blocks).count])
    #if FETCHRES_MUTANTS
      if writes, Mutant.writeFirst.isChosen { try resource.writeUnverified(bytes, blocks) }
    #endif
    outcome.rejected = try verifier.verify(bytes, blocks: blocks, leaves: leaves) {
      verified throws(FetchFailure) in
      if writes { try resource.write(verified) }
      outcome.verified.append(verified.blocks)
    }
  }

  /// What belongs where it stands is written; of the rest it is said what it is.
  private mutating func look(
    _ buffer: PooledBuffer, _ file: ReuseFile, _ blocks: Range<Int64>, _ leaves: ProvenLeaves?,
    _ outcome: inout VerifyWorkers.Outcome
  ) throws(FetchFailure) {
    let blockSize = Int(layout.blockSize)
    let wanted = leaves == nil ? blocks.count * blockSize : layout.bytes(of: blocks).count
    guard read(file, blocks.lowerBound, buffer, wanted) == wanted else {
      outcome.rejected = blocks.map {
        FetchFailure(.blockMismatch, "block \($0) of the local file is gone", block: $0)
      }
      return
    }
    if let leaves {
      try verify(buffer, blocks, leaves, writes: true, &outcome)
    } else {
      outcome.rejected = blocks.map {
        FetchFailure(.blockMismatch, "block \($0) is behind the end", block: $0)
      }
    }
    for case let block? in outcome.rejected.map(\.block) {
      let start = Int(block - blocks.lowerBound) * blockSize
      guard start + blockSize <= wanted else { continue }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer.bytes[start..<start + blockSize])
      outcome.elsewhere.append((block, verifier.leaf(of: bytes)))
    }
  }

  /// Reads from the place of a block in a local file, whose faults are no faults of the run: what
  /// cannot be read is fetched.
  private func read(
    _ file: ReuseFile, _ block: Int64, _ buffer: PooledBuffer, _ count: Int
  ) -> Int {
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<count])
    return (try? file.file.read(into: target, at: layout.offset(of: block))) ?? 0
  }
}
