import Download
import Failure
import Storage
import System

/// Keeps a resource in a directory of this machine: fetched from servers that need not be trusted,
/// verified, and never shown in part.
///
/// ```swift
/// let fetcher = Fetcher(directory: "/var/lib/example/world")
/// let world = try await fetcher.pull(PullRequest(url: url, keys: [key]))
/// print(world.path)
/// ```
///
/// A fetcher is a value that holds two paths and nothing else: what is known lies on the disk. Work
/// that blocks runs on threads of its own, never on those of the caller. Nothing here touches the
/// signal handlers or the standard streams of the process.
public struct Fetcher: Sendable {
  /// The directory of the resource, which no other resource may share. A pull makes it where it is
  /// not there.
  public let directory: String
  /// Where the records are that outlive a pull: trusted keys, the newest state seen of each release
  /// log, waits for sources that failed. Nil for the one of the user, which the command line has too:
  /// `$XDG_STATE_HOME/fetchres`, else `$HOME/.local/state/fetchres`, else `$STATE_DIRECTORY`.
  public let stateDirectory: String?

  /// - Parameters:
  ///   - directory: a path, absolute or from the working directory.
  ///   - stateDirectory: a path; nil for the one of the user. An app that has its own keeps it for
  ///     good: without it a publisher could take a release back unseen.
  public init(directory: String, stateDirectory: String? = nil) {
    (self.directory, self.stateDirectory) = (directory, stateDirectory)
  }

  // MARK: What is there

  /// Whether a whole version is in the directory, without asking the network.
  public var isAvailable: Bool { get async { await available != nil } }

  /// The version in the directory, as the pull that made it available returned it, without asking the
  /// network; nil if none is whole, or the directory cannot be read.
  ///
  /// The marker beside the file is believed, the bytes are not hashed again: it protects against
  /// crashes, not against whoever can write in the directory. An older version stays available until
  /// a newer one is whole.
  public var available: PullResult? {
    get async {
      await onOwnThread("look") { [directory] in
        guard let found = try? ResourceDirectory(directory, RealFileSystem()) else { return nil }
        return found.available.map { PullResult($0, path: found.filePath($0)) }
      }
    }
  }

  // MARK: Pulling

  /// Fetches the newest version, or goes on where an earlier run stopped. If the newest is in the
  /// directory already, only its manifest and the end of the release log are asked for.
  ///
  /// Every block is verified against the signed manifest before it is written. Cancelling the task
  /// ends the pull within a second, and this call with it; everything verified is kept.
  ///
  /// - Parameters:
  ///   - request: what to fetch, and how.
  ///   - onEvent: called on a thread of the pull, which waits for it.
  /// - Throws: what ended the run; `interrupted` if the task was cancelled, `locked` if another pull
  ///   works on the directory. Its `category` says what kind it is of, its `hint` what to do about it.
  public func pull(
    _ request: PullRequest, onEvent: @escaping @Sendable (FetchEvent) -> Void = { _ in }
  ) async throws(FetchFailure) -> PullResult {
    let interruption = Interruption()
    let request = placed(request)
    return try await withTaskCancellationHandler {
      await onOwnThread("pull") { run(request, interruption, onEvent) }
    } onCancel: {
      interruption.raise(Interruption.interrupt)
    }.get()
  }

  /// The same pull as a sequence of its events. The last is ``FetchEvent/complete(_:)``; if the pull
  /// fails, the sequence throws what ``pull(_:onEvent:)`` would.
  ///
  /// The pull begins with the iteration, and each iteration is a pull of its own. Cancelling the task
  /// ends the pull as it does in ``pull(_:onEvent:)``. Leaving the loop early ends it as well, but
  /// nobody waits then: for up to a second a further pull into the directory may be refused as
  /// `locked`.
  public func events(_ request: PullRequest) -> FetchEvents {
    let request = placed(request)
    return FetchEvents { interruption, report in
      _ = WorkThread("pull") { report(.ended(run(request, interruption) { report(.event($0)) })) }
    }
  }

  private func placed(_ request: PullRequest) -> PullRequest {
    var request = request
    (request.directory, request.stateDirectory) = (directory, stateDirectory)
    return request
  }
}

/// One pull, on the thread that calls.
private func run(
  _ request: PullRequest, _ interruption: Interruption,
  _ report: @escaping (FetchEvent) -> Void
) -> Result<PullResult, FetchFailure> {
  do throws(FetchFailure) {
    let result = try PullSession(request, interruption: interruption, report: report).run()
    report(.complete(result))
    return .success(result)
  } catch {
    return .failure(error)
  }
}

/// What `body` returns, from a thread that may block.
private func onOwnThread<Value: Sendable>(
  _ name: String, _ body: @escaping @Sendable () -> Value
) async -> Value {
  await withCheckedContinuation { continuation in
    _ = WorkThread(name) { continuation.resume(returning: body()) }
  }
}
