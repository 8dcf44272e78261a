import TestSupport
import Testing

/// The search itself: each of two durable steps that are swapped has to be found by it.
@Suite(.disabled(if: Sanitizer.isThere, "the search is not exhaustive under a sanitizer"))
struct MutantTests {
  enum Mutant: String, CaseIterable, Sendable {
    case journalBeforeData, markerBeforeData, snapshotBeforeItsContent
    case headBeforeItsContent, headAfterUse, copyBeforeItsContent

    var scene: PullScene.Case {
      switch self {
      case .journalBeforeData: .interrupted
      case .markerBeforeData, .snapshotBeforeItsContent, .headAfterUse:
        .first
      case .headBeforeItsContent: .complete
      case .copyBeforeItsContent: .outputCopied
      }
    }

    /// The step that comes too late.
    func holds(_ call: SwappedFileSystem.Call) -> Bool {
      switch self {
      case .journalBeforeData, .markerBeforeData:
        call.kind == .syncFile && call.path.hasSuffix("/blocks")
      case .snapshotBeforeItsContent:
        call.kind == .syncFile && call.path.hasSuffix("/.manifest.new")
      case .headBeforeItsContent:
        call.kind == .syncFile && call.path.hasPrefix("/state/logs/") && call.path.hasSuffix(".new")
      case .headAfterUse:
        call.path.hasPrefix("/state/logs")
          && (call.kind == .rename || call.kind == .syncDirectory)
      case .copyBeforeItsContent: call.kind == .syncFile && call.path.hasPrefix("/out/")
      }
    }

    /// The step that should have come behind it.
    func releases(_ call: SwappedFileSystem.Call) -> Bool {
      switch self {
      case .journalBeforeData: call.kind == .syncFile && call.path.hasSuffix("/journal")
      case .markerBeforeData: call.kind == .syncDirectory && call.path == "/data"
      case .snapshotBeforeItsContent:
        call.kind == .syncDirectory && call.path.contains("/partial/")
      case .headBeforeItsContent:
        call.kind == .syncDirectory && call.path == "/state/logs"
      case .headAfterUse: call.kind == .rename && call.path.hasSuffix("/1.0")
      case .copyBeforeItsContent: call.kind == .syncDirectory && call.path == "/out"
      }
    }
  }

  @Test(arguments: Mutant.allCases)
  func `two durable steps that are swapped are found`(_ mutant: Mutant) throws {
    var search = PullSearch(try PullScene(mutant.scene), seeds: 3)
    var wrapped: [SwappedFileSystem] = []
    try search.run(stopAt: 1) { fileSystem in
      let swapped = SwappedFileSystem(
        fileSystem, holds: { mutant.holds($0) }, releases: { mutant.releases($0) })
      wrapped.append(swapped)
      return swapped
    }
    #expect(wrapped.contains { $0.hasHeld }, "the step was not there to be late")
    #expect(!search.findings.isEmpty, "nobody saw it in \(search.states) states")
  }

  @Test func `steps that are held by nothing are found nowhere`() throws {
    var search = PullSearch(try PullScene(.first), seeds: 1)
    try search.run { SwappedFileSystem($0, holds: { _ in false }, releases: { _ in false }) }
    #expect(search.findings == [])
  }
}
