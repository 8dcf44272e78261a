import Failure
import System

/// Batches what was verified, and makes it durable on a thread of its own, so that no fsync ever
/// holds the network up. After a commit that failed there is no other.
struct Committer {
  private let resource: PartialResource
  private let thread: CommitThread
  private var pending: [Range<Int64>] = []
  private var pendingBytes = 0
  private var pendingSince = 0.0
  private var isRunning = false

  static let batchBytes = 64 << 20
  /// Seconds.
  var batchTime = 2.0

  init(_ resource: PartialResource, report: @escaping @Sendable (FetchFailure?) -> Void) {
    self.resource = resource
    thread = CommitThread(resource, report: report)
  }

  mutating func add(_ blocks: Range<Int64>, bytes: Int, now: Double) {
    if pending.isEmpty { pendingSince = now }
    pendingBytes += bytes
    if let last = pending.last, last.upperBound == blocks.lowerBound {
      pending[pending.count - 1] = last.lowerBound..<blocks.upperBound
    } else {
      pending.append(blocks)
    }
  }

  /// Starts a commit if it is time for one.
  mutating func tick(now: Double) {
    guard !isRunning, !pending.isEmpty,
      pendingBytes >= Self.batchBytes || now - pendingSince >= batchTime
    else { return }
    isRunning = true
    thread.commit(takeMerged())
  }

  mutating func hasCommitted() { isRunning = false }

  /// Makes the rest durable on this thread.
  ///
  /// - Throws: what this commit ended with, or one before: nobody may have heard of that yet, and
  ///   what it lost is no longer in the file.
  mutating func finish() throws(FetchFailure) {
    if let failure = thread.stop() { throw failure }
    let rest = takeMerged()
    if !rest.isEmpty { try resource.commit(rest) }
  }

  /// Waits for a commit that runs.
  func stop() { _ = thread.stop() }

  private mutating func takeMerged() -> [Range<Int64>] {
    var merged: [Range<Int64>] = []
    for range in pending.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, last.upperBound >= range.lowerBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    (pending, pendingBytes) = ([], 0)
    return merged
  }
}

/// The thread that commits.
private final class CommitThread: Sendable {
  private struct State: Sendable {
    var work: [Range<Int64>]?
    var stops = false
    var failure: FetchFailure?
    var thread: WorkThread?
  }

  private let state = Monitor(State())

  init(_ resource: PartialResource, report: @escaping @Sendable (FetchFailure?) -> Void) {
    let state = state
    let thread = WorkThread("commit") {
      while let work = state.wait({ state -> [Range<Int64>]?? in
        if let work = state.work, state.failure == nil {
          state.work = nil
          return .some(work)
        }
        return state.stops ? .some(nil) : nil
      }) ?? nil {
        do throws(FetchFailure) {
          try resource.commit(work)
          report(nil)
        } catch {
          state.change { $0.failure = error }
          report(error)
        }
      }
    }
    state.change { $0.thread = thread }
  }

  func commit(_ ranges: [Range<Int64>]) { state.change { $0.work = ranges } }

  /// Waits for a commit that runs. - Returns: what a commit failed with.
  func stop() -> FetchFailure? {
    let thread = state.change { state in
      state.stops = true
      defer { state.thread = nil }
      return state.thread
    }
    thread?.join()
    return state.look { $0.failure }
  }
}
