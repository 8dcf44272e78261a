import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote

/// Which release the run works on.
extension LogJudge {
  private static let firstLine = Array("fetchres manifest v1\n".utf8)
  /// How many bundles are looked through for a manifest of this kind.
  private static let maximumBundles = 64

  func choose(_ found: Found) throws(FetchFailure) -> Step<Choice> {
    try takeLoggedLines(found)
    if setup.pinned != nil { return try choosePinned(found) }
    // Caches out of step: the manifest is there before the checkpoint that holds it.
    if let outcome = outOfStep(offers.filter { $0.index >= found.head.size }, found) {
      return .ended(outcome)
    }
    if let newest = state.newest, found.tree == nil, found.head.isSame(as: state.head ?? found.head)
    {
      if let other = offers.first(where: {
        $0.index == newest.manifest.release && $0.release.note != newest.note
      }) {
        guard offers.contains(where: { $0.release.note == newest.note }) else {
          return .ended(notLogged(other, isFatal: true) ?? .nothing(failures))
        }
        _ = notLogged(other, isFatal: false)
      }
      blameOlder(than: newest.manifest.release)
      return .found(Choice(release: newest, newest: newest))
    }
    guard let tree = found.tree else { return .ended(.nothing(failures)) }
    let (logged, others) = split(tree)
    let top = logged.max { $0.index < $1.index }
    if let other = others.first, let outcome = notLogged(other, isFatal: top == nil) {
      return .ended(outcome)
    }
    if let top, top.index == found.head.lastRelease {
      blameOlder(than: top.index)
      return .found(Choice(release: top.release, newest: top.release))
    }
    guard let newest = try newestEntry(of: tree, above: top?.index ?? -1, found) ?? top?.release
    else { return .ended(.nothing(failures)) }
    blameOlder(than: newest.manifest.release)
    return .found(Choice(release: newest, newest: newest))
  }

  /// The same signed text under other signature lines than those in the log is the same manifest: the
  /// log's note counts, and whoever added lines or took some is to blame for that. Where nobody shows
  /// the entry, nothing is known of the text: such an offer counts for nothing, and alarms nobody.
  private func takeLoggedLines(_ found: Found) throws(FetchFailure) {
    var known: [Offer] = []
    for var offer in offers {
      switch try logged(offer, found) {
      case .note(let note) where note == offer.release.note: break
      case .note(let note):
        offer.release.note = note
        blame(
          offer.source,
          FetchFailure(
            .noteMalformed,
            "the manifest of release \(offer.index) has other signature lines than the release log")
        )
      case .other: break
      case .unknown: continue
      }
      known.append(offer)
    }
    offers = known
  }

  /// What the log has where a manifest should be.
  private enum Logged {
    /// The same text, under these signature lines.
    case note([UInt8])
    /// Another text, or nothing yet.
    case other
    /// Something else than the offer, which nobody shows: who was asked for it is blamed already.
    case unknown
  }

  private func logged(_ offer: Offer, _ found: Found) throws(FetchFailure) -> Logged {
    let text = offer.release.manifest.text
    if let newest = state.newest, newest.manifest.text == text { return .note(newest.note) }
    var isUnknown = false
    for tree in [found.tree, found.prefix].compactMap(\.self) where tree.isProven(offer.index) {
      if tree.holds(offer.release.note, at: offer.index) { return .note(offer.release.note) }
      let note: [UInt8]
      do throws(FetchFailure) {
        note = try entry(offer.index, of: tree, asking: [offer.source])
      } catch {
        if error.category == .interrupted { throw error }
        isUnknown = true
        continue
      }
      guard let judgement = try? ring.judge(note), judgement.manifest.text == text else {
        return .other
      }
      return .note(note)
    }
    return isUnknown ? .unknown : .other
  }

  private func choosePinned(_ found: Found) throws(FetchFailure) -> Step<Choice> {
    // While all are behind, a proven prefix of the log vouches as well.
    let trees = [found.tree, found.prefix].compactMap(\.self)
    let known = offers.first { $0.release.note == state.newest?.note }
    let logged = offers.first { offer in
      trees.contains { offer.index < $0.head.size && $0.holds(offer.release.note, at: offer.index) }
    }
    guard let chosen = (logged ?? known)?.release else {
      let early = offers.filter { $0.index >= (trees.first?.head.size ?? found.head.size) }
      if let outcome = outOfStep(early, found) { return .ended(outcome) }
      if let other = offers.first(where: { offer in
        trees.contains { offer.index < $0.head.size }
      }), let outcome = notLogged(other, isFatal: true) {
        return .ended(outcome)
      }
      for offer in offers { blame(offer.source, newer(offer, than: found.head)) }
      return .ended(.nothing(failures))
    }
    return .found(Choice(release: chosen, newest: try newest(found) ?? chosen))
  }

  /// The newest release where the URL pins another; nil if nobody shows it.
  private func newest(_ found: Found) throws(FetchFailure) -> LogState.Release? {
    if let newest = state.newest, state.head?.isSame(as: found.head) == true { return newest }
    guard let tree = found.tree else { return state.newest }
    for view in round.views {
      guard case .success(let answer)? = view.newest,
        case .accepted(let manifest)? = try? ring.judge(answer.bytes),
        manifest.release == found.head.lastRelease,
        tree.holds(answer.bytes, at: manifest.release)
      else { continue }
      return LogState.Release(manifest, note: answer.bytes)
    }
    return try newestEntry(of: tree, above: -1, found)
  }

  /// Manifests that are in the log, and those that are not although they should be.
  private func split(_ tree: LogTree) -> (logged: [Offer], others: [Offer]) {
    let due = offers.filter { $0.index < tree.head.size && tree.isProven($0.index) }
    return (
      due.filter { tree.holds($0.release.note, at: $0.index) },
      due.filter { !tree.holds($0.release.note, at: $0.index) }
    )
  }

  /// A manifest that the log does not hold yet.
  private func outOfStep(_ early: [Offer], _ found: Found) -> Outcome? {
    guard let offer = early.max(by: { $0.index < $1.index }) else { return nil }
    let failure = newer(offer, than: found.head)
    guard round.repeats < LogMonitor.askingAgain.count else {
      blame(offer.source, failure)
      return nil
    }
    return .outOfStep(failure)
  }

  private func newer(_ offer: Offer, than head: LogHead) -> FetchFailure {
    FetchFailure(
      .stale,
      "the manifest is of release \(offer.index), and the checkpoint shows only \(head.size) "
        + "releases: caches are out of step", source: sources[offer.source].name)
  }

  private func blameOlder(than release: Int64) {
    for offer in offers where offer.index < release {
      blame(
        offer.source,
        FetchFailure(
          .stale,
          "this source shows release \(offer.index) as the newest, and the log holds \(release)"))
    }
  }

  // MARK: Entries

  /// The entry at `index`, from whichever source has good tiles and a good bundle.
  func entry(
    _ index: Int64, of tree: LogTree, asking first: [Int]
  ) throws(FetchFailure) -> [UInt8] {
    try bundle(around: index, of: tree, asking: first).entries[Int(index % Int64(Tile.width))]
  }

  private func bundle(
    around index: Int64, of tree: LogTree, asking first: [Int]
  ) throws(FetchFailure) -> EntryBundle {
    try prove([index], of: tree, asking: first)
    let order = order(first)
    return try tree.bundle(
      around: index, by: order.map { sources[$0] }, patience: setup.patience
    ) { blame(order[$0], $1) }
  }

  /// The newest entry of this manifest's kind, behind `above`: the entry is the whole signed note.
  /// Entries of other kinds stand in the same log.
  ///
  /// - Returns: nil if there is none, or nobody shows it.
  private func newestEntry(
    of tree: LogTree, above: Int64, _ found: Found
  ) throws(FetchFailure) -> LogState.Release? {
    var index = tree.head.lastRelease
    for _ in 0..<Self.maximumBundles where index > above {
      let entries: [[UInt8]]
      do throws(FetchFailure) {
        entries = try bundle(around: index, of: tree, asking: found.sources).entries
      } catch {
        if error.category == .interrupted { throw error }
        return nil
      }
      let first = index - index % Int64(Tile.width)
      while index > above, index >= first {
        let note = entries[Int(index - first)]
        if note.starts(with: Self.firstLine) {
          return try release(note, at: index, in: tree, found)
        }
        index -= 1
      }
    }
    return nil
  }

  /// A logged entry as this run's manifest.
  private func release(
    _ note: [UInt8], at index: Int64, in tree: LogTree, _ found: Found
  ) throws(FetchFailure) -> LogState.Release? {
    do throws(FetchFailure) {
      let manifest: Manifest
      switch try ring.judge(note) {
      case .accepted(let judged): manifest = judged
      case .successor(let judged):
        accept([try succession(to: judged)])
        manifest = judged
      case .distant(let judged):
        accept(try ancestry(of: judged, in: tree, asking: found.sources))
        manifest = judged
      }
      guard manifest.release == index else {
        throw FetchFailure(
          .manifestMalformed, "entry \(index) of the log says that it is \(manifest.release)")
      }
      return LogState.Release(manifest, note: note)
    } catch {
      if error.category == .interrupted { throw error }
      // What the publisher logged is nobody else's fault.
      for source in found.sources { blame(source, error) }
      return nil
    }
  }
}
