import Failure
import MerkleTree
import System

/// Threads that hash blocks against proven leaves and write what verifies. Bytes from the network go
/// before bytes from disk.
final class VerifyWorkers: Sendable {
  enum Job: Sendable {
    /// Whole blocks as they came from a source.
    case received(PooledBuffer, blocks: Range<Int64>, leaves: ProvenLeaves, span: Span.ID)
    /// Blocks that may be on disk.
    case onDisk(PooledBuffer, blocks: Range<Int64>, leaves: ProvenLeaves)
  }

  struct Outcome: Sendable {
    var span: Span.ID?
    var blocks: Range<Int64>
    var verified: [Range<Int64>]
    var rejected: [FetchFailure]
    /// What ended the work, if the disk did.
    var failure: FetchFailure?
  }

  private struct Queue: Sendable {
    var received: [Job] = []
    var onDisk: [Job] = []
    var stops = false

    mutating func take() -> Job?? {
      if stops { return .some(nil) }
      if !received.isEmpty { return received.removeFirst() }
      if !onDisk.isEmpty { return onDisk.removeFirst() }
      return nil
    }
  }

  private let queue = Monitor(Queue())
  private let threads: [WorkThread]

  init(
    count: Int, resource: PartialResource, report: @escaping @Sendable (Outcome) -> Void
  ) {
    let queue = queue
    threads = (0..<count).map { _ in
      WorkThread("verify") {
        var worker = Worker(resource: resource)
        while let job = queue.wait({ $0.take() }) ?? nil { report(worker.perform(job)) }
      }
    }
  }

  func add(_ job: Job) {
    queue.change { queue in
      switch job {
      case .received: queue.received.append(job)
      case .onDisk: queue.onDisk.append(job)
      }
    }
  }

  /// Drops what is queued and waits for what is being worked on.
  func stop() {
    queue.change { queue in
      queue = Queue(stops: true)
    }
    for thread in threads { thread.join() }
  }

  private struct Worker: ~Copyable {
    let resource: PartialResource
    var verifier: BlockVerifier

    init(resource: PartialResource) {
      self.resource = resource
      verifier = BlockVerifier(layout: resource.manifest.layout)
    }

    mutating func perform(_ job: Job) -> Outcome {
      switch job {
      case .received(let buffer, let blocks, let leaves, let span):
        return verify(buffer, blocks, leaves, span: span, writes: true)
      case .onDisk(let buffer, let blocks, let leaves):
        do throws(FetchFailure) { try resource.read(blocks, into: buffer.bytes) } catch {
          return Outcome(blocks: blocks, verified: [], rejected: [], failure: error)
        }
        return verify(buffer, blocks, leaves, span: nil, writes: false)
      }
    }

    private mutating func verify(
      _ buffer: PooledBuffer, _ blocks: Range<Int64>, _ leaves: ProvenLeaves,
      span: Span.ID?, writes: Bool
    ) -> Outcome {
      var outcome = Outcome(span: span, blocks: blocks, verified: [], rejected: [])
      let count = resource.manifest.layout.bytes(of: blocks).count
      do throws(FetchFailure) {
        outcome.rejected = try verifier.verify(
          UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]), blocks: blocks, leaves: leaves
        ) { verified throws(FetchFailure) in
          if writes { try resource.write(verified) }
          outcome.verified.append(verified.blocks)
        }
      } catch {
        outcome.failure = error
      }
      return outcome
    }
  }
}
