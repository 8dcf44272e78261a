import Failure
import Manifest
import SignedNote

/// What the sources have answered, as it came.
struct LogRound {
  struct View {
    /// The manifest that the URL names.
    var manifest: LogSource.Result
    /// The newest manifest, where the URL pins a version.
    var newest: LogSource.Result?
    var checkpoint: LogSource.Result
  }

  private let sources: [LogSource]
  private let pinned: String?
  private(set) var views: [View] = []
  /// How often all were asked again, past caches.
  private(set) var repeats = 0
  /// How often in a row sources could not be reached.
  var incidents = 0
  /// How often each source answered something wrong.
  var refusals: [Int: Int] = [:]

  init(sources: [LogSource], pinned: String?) { (self.sources, self.pinned) = (sources, pinned) }

  /// Asks for manifest and checkpoint at the same time, all sources or only those that failed.
  mutating func ask(only: Set<Int>? = nil) {
    let isFirst = views.isEmpty
    let asked = sources.indices.filter { only?.contains($0) != false }
    let paths =
      (pinned.map { [SitePaths.releaseManifest($0), SitePaths.manifest] } ?? [SitePaths.manifest])
      + [SitePaths.checkpoint]
    let asks = asked.flatMap { index in
      paths.map { path in
        var ask = LogSource.Ask(
          path,
          limit: path == SitePaths.checkpoint
            ? Checkpoint.maximumByteCount : Manifest.maximumByteCount)
        ask.isRepeat = !isFirst
        ask.bypassesCaches = repeats > 0 || refusals[index, default: 0] > 0
        return (source: sources[index], ask: ask)
      }
    }
    func isGood(_ result: LogSource.Result?) -> Bool {
      if case .success = result { true } else { false }
    }
    let answers = LogSource.get(asks) { got in
      stride(from: 0, to: got.count, by: paths.count).contains { first in
        got[first..<first + paths.count].allSatisfy(isGood)
      }
    }
    for (number, index) in asked.enumerated() {
      let answers = answers[number * paths.count..<(number + 1) * paths.count]
      let view = View(
        manifest: answers[answers.startIndex],
        newest: pinned == nil ? nil : answers[answers.startIndex + 1],
        checkpoint: answers[answers.endIndex - 1])
      if isFirst { views.append(view) } else { views[index] = view }
    }
  }

  mutating func askAgain() {
    repeats += 1
    ask()
  }
}
