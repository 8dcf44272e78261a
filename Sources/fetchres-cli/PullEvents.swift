import Failure
import FetchResKit

/// A pull as lines of JSON. `Samples/events.schema.json` describes them.
enum PullEvents {
  static func line(_ event: FetchEvent) -> [JSONLine] {
    switch event {
    case .manifest(let origin, let version, let release, let size, let blocks):
      var line = JSONLine("manifest")
      line.add("origin", origin)
      line.add("version", version)
      line.add("release", release)
      line.add("size", size)
      line.add("blocks", blocks)
      return [line]
    case .begin(let version, let size, let claimed):
      var line = JSONLine("begin")
      line.add("version", version)
      line.add("size", size)
      line.add("claimed", claimed)
      return [line]
    case .progress(let progress): return [self.progress(progress)]
    case .phase(let phase): return [self.phase(phase)]
    case .blockRejected(let failure, let wasOnDisk):
      var line = JSONLine("block-rejected")
      line.add(failure)
      line.add("wasOnDisk", wasOnDisk)
      return [line]
    case .sourceFailed(let failure):
      var line = JSONLine("source-failed")
      line.add(failure)
      return [line]
    case .sources(let sources):
      return sources.map { source in
        var line = JSONLine("source")
        line.add(source)
        return line
      }
    case .alert(let category, let message, let evidence):
      var line = JSONLine("alert")
      line.add("category", category.rawValue)
      line.add("message", message)
      line.add("evidence", evidence)
      return [line]
    case .unacknowledgedAlerts(let count, let origin):
      var line = JSONLine("alerts")
      line.add("origin", origin)
      line.add("unacknowledged", Int64(count))
      return [line]
    case .route(let text):
      var line = JSONLine("route")
      line.add("message", text)
      return [line]
    case .note(let text, let hint):
      var line = JSONLine("note")
      line.add("message", text)
      line.add("hint", hint)
      return [line]
    // Said by `complete(_:carriedOver:)`, when all else is.
    case .complete: return []
    }
  }

  private static func progress(_ progress: FetchEvent.Progress) -> JSONLine {
    var line = JSONLine("progress")
    line.add("total", progress.total)
    line.add("verified", progress.verified)
    line.add("resumed", progress.resumed)
    line.add("reused", progress.reused)
    line.add("unhashed", progress.unhashed)
    line.add("rate", progress.rate.flatMap { Int64(exactly: $0.rounded()) })
    line.add("sources", Int64(progress.sources))
    return line
  }

  private static func phase(_ phase: FetchEvent.Phase) -> JSONLine {
    var line = JSONLine("phase")
    switch phase {
    case .checkingLog: line.add("phase", "checking-log")
    case .waiting(let seconds):
      line.add("phase", "waiting")
      line.add("seconds", Int64(exactly: seconds.rounded(.up)))
    case .startingTor(let percent):
      line.add("phase", "starting-tor")
      line.add("percent", percent.map { Int64($0) })
    case .finishing: line.add("phase", "finishing")
    }
    return line
  }

  static func complete(_ result: PullResult, carriedOver: Int64) -> JSONLine {
    var line = JSONLine("complete")
    line.add("origin", result.origin)
    line.add("version", result.version)
    line.add("release", result.release)
    line.add("size", result.size)
    line.add("fetched", result.fetched)
    line.add("reused", result.reused)
    line.add("carriedOver", carriedOver)
    line.add("path", result.path)
    line.add("newerVersion", result.newerVersion)
    return line
  }

  /// What a command that gives JSON ends with when it fails.
  static func failed(_ failure: FetchFailure) -> JSONLine {
    var line = JSONLine("failed")
    line.add(failure)
    line.add("exitCode", Int64(failure.exitCode))
    return line
  }
}
