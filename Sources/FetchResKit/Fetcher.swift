import Failure
import System

/// Fetches resources, verified. Each pull runs on a thread of its own, so that nothing blocks the
/// threads of the caller.
public struct Fetcher: Sendable {
  public init() {}

  /// Fetches the newest version, or goes on where an earlier run stopped.
  ///
  /// Cancelling the task ends the pull within a second; what was verified is kept.
  ///
  /// - Parameter onEvent: called on the pull's own thread.
  /// - Throws: what ended the run; `interrupted` if the task was cancelled.
  public func pull(
    _ request: PullRequest, onEvent: @escaping @Sendable (FetchEvent) -> Void = { _ in }
  ) async throws(FetchFailure) -> PullResult {
    let interruption = Interruption()
    let result: Result<PullResult, FetchFailure> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        WorkThread("pull") {
          do throws(FetchFailure) {
            let session = PullSession(request, interruption: interruption, report: onEvent)
            continuation.resume(returning: .success(try session.run()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }.detach()
      }
    } onCancel: {
      interruption.raise(Interruption.interrupt)
    }
    return try result.get()
  }
}
