import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import Storage
import System
import Transport

/// What this client knows of release logs, asked and compared by hand.
package struct Integrity {
  let state: StateDirectory
  let interruption: Interruption
  private let clock: LogClock
  private let proxy: ProxySetting
  private let certificateFile: String?

  /// - Parameter certificateFile: who vouches for servers, instead of the system's certificates.
  package init(
    stateDirectory: String?, proxy: ProxySetting = .environment, certificateFile: String? = nil,
    _ fileSystem: any FileSystem = RealFileSystem(),
    interruption: Interruption = Interruption(), clock: LogClock = LogClock()
  ) throws(FetchFailure) {
    state = try StateDirectory(stateDirectory, fileSystem)
    (self.interruption, self.clock) = (interruption, clock)
    (self.proxy, self.certificateFile) = (proxy, certificateFile)
  }

  package var trust: TrustStore { state.trust }

  /// The origins of which something is known.
  package func origins() -> [Origin] { state.logOrigins }

  package func log(of origin: Origin) throws(FetchFailure) -> LogState {
    try state.log(of: origin).load()
  }

  /// Forgets what is believed of an origin, so that first use begins again.
  package func reset(_ origin: Origin) throws(FetchFailure) { try state.log(of: origin).reset() }

  /// - Returns: how many alerts there were to acknowledge.
  package func acknowledge(_ origin: Origin) throws(FetchFailure) -> Int {
    var count = 0
    _ = try state.log(of: origin).update { state in
      count = state.alerts.acknowledgeAll()
      return count > 0
    }
    return count
  }

  /// The verified head: the signed checkpoint itself.
  ///
  /// - Throws: `unavailable` where nothing was verified yet.
  package func gossip(_ origin: Origin) throws(FetchFailure) -> [UInt8] {
    try head(of: origin, try log(of: origin)).note
  }

  private func head(of origin: Origin, _ log: LogState) throws(FetchFailure) -> LogHead {
    guard let head = log.head else {
      throw FetchFailure(
        .unavailable, "nothing is known of \(origin) yet", hint: "'fetchres pull' begins it")
    }
    return head
  }

  // MARK: Comparing

  /// How somebody else's head stands to the one that is kept.
  package enum Comparison: Sendable, Equatable {
    case match
    /// The other is a prefix of what is kept; or nobody could show yet that it is.
    case behind(isProven: Bool)
    /// The other has seen more: remembered, and compared at the next pull.
    case ahead
  }

  package struct Ingested: Sendable {
    package var origin: Origin
    package var comparison: Comparison
    package var theirs: LogHead
    package var ours: LogHead
  }

  /// Compares a checkpoint that somebody else saw with what is kept.
  ///
  /// - Parameters:
  ///   - peer: who showed it.
  ///   - keys: trusted for this time only.
  /// - Throws: `fork`, with the path of the evidence; what a note that does not verify is.
  package func ingest(
    _ bytes: [UInt8], from peer: String, keys: [NoteKey] = []
  ) throws(FetchFailure) -> Ingested {
    let origin = try origin(of: bytes, keys)
    let store = state.log(of: origin)
    let log = try store.load()
    let ours = try head(of: origin, log)
    let trusted = try keys + trust.load().keys(of: origin) + [ours.key]
    let theirs = try KeyRing(trusted: trusted.filter { $0.origin == origin }, log).head(bytes)
    let comparison: Comparison
    switch try compare(theirs, ours, log) {
    case .found(let found): comparison = found
    case .fork(let evidence):
      let path = try store.keep(evidence: evidence.text, kind: "fork")
      let alert = Alert(fork: evidence, path: path, time: clock.wall())
      _ = try store.update { $0.alerts.file(alert) }
      throw FetchFailure(.fork, alert.message, hint: alert.kind.advice)
    }
    let moment = { [clock] (run: Int64) in
      let boot = clock.boot()
      return Moment(boot: boot.identity, seconds: boot.seconds, run: run)
    }
    _ = try store.update { state in
      let isProven = comparison == .match || comparison == .behind(isProven: true)
      state.count(theirs, from: peer, matches: isProven)
      state.remember(
        SeenHead(
          theirs, isProven ? .proven : .pending, peer: peer, firstSeen: moment(state.runs)))
      return true
    }
    return Ingested(origin: origin, comparison: comparison, theirs: theirs, ours: ours)
  }

  /// Which origin a checkpoint may be of: one that signed it by name, and that is known here.
  private func origin(of bytes: [UInt8], _ keys: [NoteKey]) throws(FetchFailure) -> Origin {
    let names = try SignedNote(bytes).signatures.compactMap { Origin($0.name) }
    let known = origins() + (try trust.load().origins) + keys.compactMap(\.origin)
    guard let origin = names.first(where: { known.contains($0) }) else {
      throw FetchFailure(
        .unknownKey, "the checkpoint is signed by nobody who is known here",
        hint: "'fetchres trust add' the key, and pull once")
    }
    return origin
  }

  private enum Finding {
    case found(Comparison)
    case fork(Evidence)
  }

  private func compare(
    _ theirs: LogHead, _ ours: LogHead, _ log: LogState
  ) throws(FetchFailure) -> Finding {
    if theirs.isSame(as: ours) { return .found(.match) }
    let rival = (log.seen.map(\.head) + [ours]).first {
      $0.size == theirs.size && $0.root != theirs.root
    }
    if let rival { return .fork(try Evidence(smaller: rival, larger: theirs, hashes: [])) }
    if theirs.size > ours.size { return .found(.ahead) }
    let isKnown = log.seen.contains { $0.standing == .proven && $0.head.isSame(as: theirs) }
    if theirs.size == 0 || isKnown { return .found(.behind(isProven: true)) }
    let transport = try makeTransport(for: state.bases(of: log.origin).first)
    defer { transport.stop() }
    // What is kept proves it in most cases; else whoever serves the log.
    let askable: [LogSource?] = [nil] + sources(of: log.origin, transport).map { $0 }
    for source in askable {
      do throws(FetchFailure) {
        let proof = try LogProof(
          of: log, ours, by: source, leaves: [theirs.size - 1, ours.size - 1])
        return proof.evidence(against: theirs).map { .fork($0) } ?? .found(.behind(isProven: true))
      } catch {
        if error.category == .interrupted { throw error }
      }
    }
    return .found(.behind(isProven: false))
  }

  // MARK: Sources

  /// - Parameter url: what is asked first; nil if that is nothing.
  func makeTransport(for url: WebURL?) throws(FetchFailure) -> any Transport {
    OpenSSL.prepare()
    var policy = RequestPolicy(userAgent: "fetchres/\(fetchresVersion)")
    policy.certificateFile = certificateFile
    if let url { policy.proxy = try ProxyDecision(proxy, for: url).choice }
    return CurlTransport(policy: policy)
  }

  /// The sites that the origin was pulled from.
  func sources(of origin: Origin, _ transport: any Transport) -> [LogSource] {
    state.bases(of: origin).map { LogSource($0, transport: transport, interruption) }
  }

  /// Fetches a checkpoint from a URL.
  ///
  /// - Returns: the note, and who showed it. A site that is pulled from is no other for being asked by
  ///   hand, and a password in the URL is no part of its name.
  package func fetch(_ text: String) throws(FetchFailure) -> (note: [UInt8], peer: String) {
    let url = try WebURL(text)
    let transport = try makeTransport(for: url)
    defer { transport.stop() }
    let note = try transport.fetch(
      Request(url), limit: Checkpoint.maximumByteCount, interruption
    ).body
    let isOfSite = url.path.hasSuffix("/\(SitePaths.checkpoint)")
    return (note, String(url.shown.dropLast(isOfSite ? SitePaths.checkpoint.count : 0)))
  }
}
