import Crypto
import Download
import Failure
import Manifest
import SignedNote
import Storage
import System
import Transport

/// The sources of one run, the publisher's own base first, with what earlier runs kept of each and
/// what this one learns. Used from several threads.
final class SourceList: Sendable {
  private struct State {
    var entries: [Entry] = []
    var byHand: (list: MirrorList, origin: Origin, stamp: FileStamp?)?

    /// False if it is there.
    mutating func add(_ base: WebURL, _ seed: SourceSeed, isByHand: Bool) -> Bool {
      guard !entries.contains(where: { $0.base == base && !$0.isRemoved }) else { return false }
      entries.append(
        Entry(
          base: base, health: SourceHealth(seed, limit: 1, now: Clocks.monotonic()),
          isByHand: isByHand))
      return true
    }
  }

  private struct Entry {
    let base: WebURL
    var health: SourceHealth
    /// Whether it is here only because the user's list has it.
    let isByHand: Bool
    var isRemoved = false
  }

  private let state: Monitor<State>
  private let records: RetryRecords
  private let boot: BootIdentity?
  /// The newest manifest at the first source, by the name that the user gave.
  private let manifestURL: WebURL
  /// Whether a wait from an earlier run is skipped, once.
  private let asksAtOnce: Bool

  /// - Parameters:
  ///   - site: the URL that the user gave; its base is the first source.
  ///   - asksAtOnce: each source gets one attempt whatever its wait is.
  ///   - boot: that of this machine; nil if it is not known.
  init(
    _ site: SiteURL, records: RetryRecords, asksAtOnce: Bool,
    boot: BootIdentity? = BootIdentity.current()
  ) {
    (self.records, self.boot) = (records, boot)
    self.asksAtOnce = asksAtOnce
    manifestURL = site.base.appending(site.manifestName)
    state = Monitor(State())
    add(site.base)
  }

  /// Adds a source, unless it is there. Query, userinfo and header lines of the base do not go to it.
  func add(_ base: WebURL) {
    let seed = seed(of: base)
    state.look { state in _ = state.add(base, seed, isByHand: false) }
  }

  /// Adds the mirrors that a verified manifest names. Those in a private network count only if the
  /// base is in one as well.
  func add(mirrorsOf manifest: Manifest) {
    let base = state.look { $0.entries[0].base }
    for text in manifest.mirrors {
      guard let mirror = try? WebURL(text), base.isPrivate || !mirror.isPrivate else { continue }
      add(mirror)
    }
  }

  // MARK: Mirrors by hand

  /// Adds the mirrors that the user keeps for the origin.
  func add(_ mirrors: MirrorList, of origin: Origin) throws(FetchFailure) {
    let stamp = mirrors.stamp(of: origin)
    let bases = try mirrors.bases(of: origin)
    state.look { state in
      state.byHand = (mirrors, origin, stamp)
      for base in bases { _ = state.add(base, seed(of: base), isByHand: true) }
    }
  }

  /// How the user's list has changed since it was looked at last; nil if it has not. What is added here
  /// is added at the end there, so that both count alike.
  func changes() -> DownloadSourceChange? {
    state.look { state in
      guard let list = state.byHand?.list, let origin = state.byHand?.origin else { return nil }
      let stamp = list.stamp(of: origin)
      guard stamp != state.byHand?.stamp, let bases = try? list.bases(of: origin) else {
        return nil
      }
      state.byHand?.stamp = stamp
      var change = DownloadSourceChange()
      for (index, entry) in state.entries.enumerated()
      where entry.isByHand && !entry.isRemoved && !bases.contains(entry.base) {
        state.entries[index].isRemoved = true
        change.removed.append(index)
      }
      for base in bases where state.add(base, seed(of: base), isByHand: true) {
        change.added.append(DownloadSource(base, seed(of: base)))
      }
      return change
    }
  }

  // MARK: For the transfer of data

  /// The sources as a download takes them, with what is known of them by now.
  func downloadSources() -> [DownloadSource] {
    let now = Clocks.monotonic()
    return state.look { state in
      state.entries.map { DownloadSource($0.base, $0.health.seed(now: now)) }
    }
  }

  // MARK: For small files

  /// What a source answers while it is left alone after failures; nil if it may be asked.
  func refusal(_ source: Int) -> FetchFailure? {
    let now = Clocks.monotonic()
    return state.look { state in
      let health = state.entries[source].health
      guard !health.mayBeAsked(now: now) else { return nil }
      let wait = Int((health.notBefore - now).rounded(.up))
      return health.lastFailure
        ?? FetchFailure(
          .unreachable,
          "left alone for another \(wait) s after \(health.failures) failures in a row",
          hint: "run again later, or with --retry-now to ask at once", source: health.name)
    }
  }

  /// Counts a failure of a source to give a small file.
  ///
  /// - Parameter epoch: that of the source when it was asked.
  func count(_ failure: FetchFailure, _ source: Int, epoch: Int) {
    let record = state.look { state -> SourceRecord? in
      let spoke = state.entries[source].health.speaks
      state.entries[source].health.note(failure)
      guard failure.exitCode == 3,
        !state.entries[source].health.isFree(failure, spokeBefore: spoke)
      else { return nil }
      let isOffline =
        failure.exchange.isLocal && state.entries.allSatisfy { $0.health.isOutOfReach }
      return state.entries[source].health.climb(
        failure, askedIn: epoch, isOffline: isOffline, now: Clocks.monotonic(),
        jitter: { RetryPolicy.jittered($0, random: .random(in: 0..<1)) })
    }
    if let record { keep(record, of: source) }
  }

  /// Sources gave what verified: whatever they failed with before is over.
  func succeeded(_ sources: Set<Int>) {
    for source in sources {
      let record = state.look { $0.entries[source].health.verified(bytes: 0) }
      if let record { keep(record, of: source) }
    }
  }

  func epoch(of source: Int) -> Int { state.look { $0.entries[source].health.epoch } }

  var bases: [WebURL] { state.look { $0.entries.map(\.base) } }

  /// Where a small file is at a source: a path as ``SitePaths`` has it, percent-encoded here.
  func url(_ path: String, at source: Int) -> WebURL {
    if source == 0, path == SitePaths.manifest { return manifestURL }
    return state.look { $0.entries[source].base }.appending(SitePaths.urlPath(path))
  }

  /// Seconds until one of those may be asked again.
  func wait(for sources: [Int]) -> Double {
    let now = Clocks.monotonic()
    return state.look { state in
      max(0, (sources.map { state.entries[$0].health.notBefore }.min() ?? now) - now)
    }
  }

  // MARK: Records

  /// Keeps for later runs what a source did. A state that cannot be written costs a wait, never a
  /// download.
  func keep(_ record: SourceRecord, of source: Int) {
    let name = Self.recordName(state.look { $0.entries[source].base })
    let now = Clocks.sinceBoot()
    switch record {
    case .failed(let failures, let asked):
      try? records.save(
        LadderRecord(failures: failures, now: now, boot: boot, atLeast: asked), name)
    case .succeeded:
      try? records.removeLadder(name)
    case .held:
      try? records.save(HoldRecord(now: now, boot: boot), name)
    }
  }

  /// A wait of another boot begins anew: it is written down, so that it does so once.
  private func seed(of base: WebURL) -> SourceSeed {
    let (name, now) = (Self.recordName(base), Clocks.sinceBoot())
    var seed = SourceSeed(name: base.shown)
    if let ladder = records.ladder(name) {
      seed.failures = ladder.failures
      seed.wait = asksAtOnce ? 0 : ladder.sourceWait(now: now, boot: boot)
      if ladder.deadline.left(now: now, boot: boot) == nil {
        try? records.save(ladder.begunAgain(now: now, boot: boot), name)
      }
    }
    if let hold = records.hold(name) {
      seed.held = hold.wait(now: now, boot: boot)
      if seed.held == 0 {
        try? records.removeHold(name)
      } else if hold.deadline.left(now: now, boot: boot) == nil {
        try? records.save(hold.begunAgain(now: now, boot: boot), name)
      }
    }
    return seed
  }

  /// One record a base, whoever asks for it.
  static func recordName(_ base: WebURL) -> String { recordName(shown: base.shown) }

  static func recordName(shown: String) -> String {
    SHA256.digest(Array(shown.utf8)).description
  }
}
