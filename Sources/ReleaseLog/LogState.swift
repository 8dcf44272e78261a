import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote

/// What this client believes of one origin's release log, and what it saw on the way. A value: rules
/// change it, ``LogStore`` keeps it.
package struct LogState: Sendable, Equatable {
  /// A verified manifest, and the very bytes of its note.
  package struct Release: Sendable, Hashable {
    package var manifest: Manifest
    package var note: [UInt8]

    package init(_ manifest: Manifest, note: [UInt8]) {
      (self.manifest, self.note) = (manifest, note)
    }
  }

  /// A key that a trusted one had announced, and that has signed releases since.
  package struct Succession: Sendable, Hashable {
    package var key: NoteKey
    package var predecessor: NoteKey
    /// The first release of `key`: the predecessor signs none from here on.
    package var since: Int64
  }

  /// How often a source gave a reason to blame it.
  package struct FaultCount: Sendable, Hashable {
    package var source: String
    package var category: FailureCategory
    package var count: Int64
  }

  /// A partial tile of the kept head's tree. Suspect like everything that lies on a disk.
  package struct EdgeTile: Sendable, Hashable {
    package var address: TileAddress
    package var bytes: [UInt8]
  }

  package let origin: Origin
  /// Grows with every write: what compare-and-swap compares.
  package var serial: Int64 = 0
  /// Pulls so far.
  package var runs: Int64 = 0
  /// Seconds since 1970 on the local clock, of the last pull that found all well.
  package var lastCheck: Int64?
  /// The newest verified head.
  package var head: LogHead?
  /// The right edge of its tree, so that what others show can be compared without them.
  package var edge: [EdgeTile] = []
  /// The newest verified v1 manifest of that head.
  package var newest: Release?
  package var successions: [Succession] = []
  package var alerts = AlertList()
  /// Newest last.
  package internal(set) var seen: [SeenHead] = []
  /// Since when every source has shown less than the kept head.
  package var behindSince: Moment?
  package internal(set) var faults: [FaultCount] = []
  /// Sources and files that showed what somebody else had shown.
  package internal(set) var peers: [String] = []
  package var headsSeen: Int64 = 0
  package var headsMatched: Int64 = 0
  package var samplesProven: Int64 = 0

  static let seenCapacity = 64
  static let peerCapacity = 64
  static let faultCapacity = 64

  package init(_ origin: Origin) { self.origin = origin }

  /// A `published` further ahead of the local clock than this is no floor under the time.
  static let clockTolerance: Int64 = 24 * 3_600

  /// The time that counts: the local clock, and not before the newest release that is known.
  package func now(wall: Int64) -> UTCDate {
    guard let published = newest?.manifest.published.seconds,
      published <= wall + Self.clockTolerance
    else { return UTCDate(seconds: wall) }
    return UTCDate(seconds: max(wall, published))
  }

  // MARK: What was seen

  /// Remembers a head from its first sight on. One that was known keeps that.
  package mutating func remember(_ head: SeenHead) {
    if let index = seen.firstIndex(where: { $0.head.isSame(as: head.head) }) {
      if head.standing == .proven { seen[index].standing = .proven }
      return
    }
    seen.append(head)
    while seen.count > Self.seenCapacity {
      // What nobody has explained yet stays longest.
      seen.remove(at: seen.firstIndex { $0.standing == .proven } ?? 0)
    }
  }

  /// Counts a head that somebody showed. Whoever showed it to us first does not confirm it by showing
  /// it again.
  package mutating func count(_ head: LogHead, from peer: String, matches: Bool) {
    let isEcho = seen.contains { $0.head.isSame(as: head) && $0.peer == peer }
    guard !isEcho else { return }
    headsSeen += 1
    guard matches else { return }
    headsMatched += 1
    if !peers.contains(peer), peers.count < Self.peerCapacity { peers.append(peer) }
  }

  package mutating func blame(_ failure: FetchFailure) {
    guard let source = failure.source else { return }
    if let index = faults.firstIndex(where: {
      $0.source == source && $0.category == failure.category
    }) {
      faults[index].count += 1
      return
    }
    if faults.count >= Self.faultCapacity { faults.removeFirst() }
    faults.append(FaultCount(source: source, category: failure.category, count: 1))
  }

  /// Everything that the head vouched for goes; alerts and counters stay.
  package mutating func beginAgain() {
    (head, newest, behindSince) = (nil, nil, nil)
    (successions, seen, edge) = ([], [], [])
  }
}
