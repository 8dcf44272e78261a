import Failure
import Storage
import TestSupport

@testable import Download

/// Ends the work of a scene at each operation, and collects what must not be so.
struct PullSearch {
  private let scene: PullScene
  private var search: PowerCutSearch
  private(set) var findings: [String] = []
  /// How many states were looked at again after a rerun.
  private(set) var reruns = 0

  var points: Int { search.points }
  var states: Int { search.states }

  init(_ scene: PullScene, seeds: UInt64) {
    self.scene = scene
    search = PowerCutSearch(seeds: seeds)
  }

  /// - Parameters:
  ///   - limit: how many findings are enough.
  ///   - wrap: the file system that the work gets.
  mutating func run(
    stopAt limit: Int = .max, wrap: (MemoryFileSystem) -> any FileSystem = { $0 }
  ) throws {
    let scene = scene
    var found: [String] = []
    var reruns = 0
    var seen: Set<Int> = []
    do {
      try search.run(from: scene.start) { fileSystem in
        try scene.work(wrap(fileSystem))
      } examine: { fileSystem, end in
        guard found.count < limit else { throw Enough() }
        guard seen.insert(try fileSystem.fingerprint()).inserted else { return }
        reruns += 1
        do {
          let isDone = end.isComplete && scene.which != .interrupted
          found += try scene.findings(fileSystem.restart(), isComplete: isDone).map {
            "\(end): \($0)"
          }
          let next = fileSystem.restart()
          try scene.rerun(next)
          // What the rerun did has to survive the next power cut.
          found += try scene.findings(next.crash(survivors: .nothingUnsynced), isComplete: true)
            .map { "\(end), then a rerun and a power cut: \($0)" }
        } catch { found.append("\(end): a rerun ends with \(error)") }
      }
    } catch is Enough {}
    (findings, self.reruns) = (found, reruns)
  }

  /// Ends the search.
  private struct Enough: Error {}
}
