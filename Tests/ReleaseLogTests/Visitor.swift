import Failure
import Manifest
import ReleaseLog
import SignedNote
import System
import TestSupport
import Testing

/// A client with a disk and clocks of its own.
final class Visitor {
  let fileSystem: MemoryFileSystem
  var trusted: [NoteKey]
  var pinned: String?
  var witnesses = WitnessPolicy()
  var maximumAge: Int64?
  /// Seconds that a slow source has for tiles and entries before another is asked as well.
  var patience = 10.0
  /// The local clock.
  var wall = World.start + 3_600
  var boot = BootIdentity([UInt8](repeating: 1, count: 16))
  var sinceBoot: Int64 = 1_000
  /// How long the last pull waited, in seconds.
  private(set) var waited: [Double] = []
  private(set) var events: [LogMonitor.Event] = []

  init(_ trusted: [NoteKey], _ fileSystem: MemoryFileSystem = MemoryFileSystem()) {
    (self.trusted, self.fileSystem) = (trusted, fileSystem)
  }

  convenience init(_ world: World) { self.init([world.key.key]) }

  var store: LogStore { LogStore(World.origin, below: "/state", fileSystem) }

  func state() throws -> LogState { try store.load() }

  /// Time passes on all clocks.
  func pass(seconds: Int64) {
    wall += seconds
    sinceBoot += seconds
  }

  func restart() {
    boot = BootIdentity([UInt8](repeating: (boot?.bytes[0] ?? 0) + 1, count: 16))
    sinceBoot = 10
  }

  func pull(_ servers: Server...) throws(FetchFailure) -> LogMonitor.Verdict {
    try pull(sources: servers.map(\.source))
  }

  func pull(sources: [LogSource]) throws(FetchFailure) -> LogMonitor.Verdict {
    (waited, events) = ([], [])
    var setup = LogMonitor.Setup(origin: World.origin, trusted: trusted) { failures, _ in
      Double(failures) * 100
    }
    setup.pinned = pinned
    setup.witnesses = witnesses
    setup.maximumAge = maximumAge
    setup.patience = patience
    let clock = LogClock(
      wall: { self.wall }, boot: { (self.boot, self.sinceBoot) },
      monotonic: { Double(self.sinceBoot) })
    return try LogMonitor(
      setup, store: store, sources: sources, clock: clock,
      sleep: { seconds throws(FetchFailure) in
        self.waited.append(seconds)
        self.pass(seconds: Int64(seconds))
      },
      report: { self.events.append($0) }
    ).run()
  }

  /// What becomes of a pull: the word that it ends with, or nil.
  func refusal(_ servers: Server...) -> FailureCategory? {
    category { () throws(FetchFailure) in _ = try pull(sources: servers.map(\.source)) }
  }

  // MARK: What the last pull said

  var alerts: [Alert.Kind] {
    events.compactMap { if case .alert(let alert) = $0 { alert.kind } else { nil } }
  }

  /// Which sources were blamed, and for what.
  var faults: [String] {
    events.compactMap {
      if case .fault(let failure) = $0 {
        "\(failure.source ?? "?") \(failure.category.rawValue)"
      } else {
        nil
      }
    }
  }

  var notes: [String] {
    events.compactMap { if case .note(let text, _) = $0 { text } else { nil } }
  }
}
