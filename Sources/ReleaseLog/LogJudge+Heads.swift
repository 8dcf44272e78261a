import Failure
import SignedNote

/// Which head of the log counts.
extension LogJudge {
  /// The head that this run goes on with.
  struct Found {
    var head: LogHead
    /// Its tree, where anything had to be proven in it.
    var tree: LogTree?
    /// The sources that show it.
    var sources: [Int]
    /// A proven prefix that the sources show while they are behind.
    var prefix: LogTree?
    var witnessed: Int64?
    /// Whether every source shows less than this, which is what was kept.
    var isBehind = false
    /// Smaller heads that nobody had tiles to compare with.
    var uncompared: [LogHead] = []
  }

  /// Compares every head with what is kept and with each other.
  func compareHeads() throws(FetchFailure) -> Step<Found> {
    if let kept = state.head {
      for group in groups where group.head.size == kept.size && !group.head.isSame(as: kept) {
        return .ended(try fork(kept, group.head, hashes: []))
      }
    }
    for (first, second) in zip(groups, groups.dropFirst()) where first.head.size == second.head.size
    {
      guard first.head.size > 0 else { continue }
      return .ended(try fork(first.head, second.head, hashes: []))
    }
    for group in groups where group.head.size > state.head?.size ?? 0 {
      switch try advance(to: group) {
      case .found(let found?): return .found(found)
      case .found(nil): continue
      case .ended(let outcome): return .ended(outcome)
      }
    }
    guard let kept = state.head else { return .ended(.nothing(unproven())) }
    if let same = groups.first(where: { $0.head.isSame(as: kept) }) {
      return try stay(at: same, kept)
    }
    // Heads that are larger and not proven are no rollback.
    let smaller = groups.filter { $0.head.size < kept.size }
    guard !smaller.isEmpty else { return .ended(.nothing(unproven())) }
    return try fallBehind(kept, smaller, isWhole: smaller.count == groups.count)
  }

  /// Failures of sources whose heads could not be used.
  private func unproven() -> [Int: FetchFailure] {
    var failures = failures
    for group in groups {
      for source in group.sources where failures[source] == nil {
        failures[source] = FetchFailure(
          .stale, "the release log is empty", source: sources[source].name)
      }
    }
    return failures
  }

  /// Takes a larger head if it continues the kept one, and compares all smaller ones with it.
  ///
  /// - Returns: nil if nobody has good tiles of it.
  private func advance(to group: Group) throws(FetchFailure) -> Step<Found?> {
    let tree = try LogTree(group.head)
    let others = groups.map(\.head) + state.seen.filter { $0.standing == .pending }.map(\.head)
    let smaller = others.filter { $0.size < group.head.size }
    var leaves: Set<Int64> = [group.head.size - 1]
    leaves.formUnion(offers.map(\.index).filter { $0 < group.head.size })
    leaves.formUnion(([state.head].compactMap(\.self) + smaller).map { $0.size - 1 })
    do throws(FetchFailure) { try prove(leaves, of: tree, asking: group.sources) } catch {
      if error.category == .interrupted { throw error }
      // Genuine, but nobody shows how it belongs to what is known: remembered from its first sight.
      note(group, .pending)
      return .found(nil)
    }
    if let outcome = try compare(tree) { return .ended(outcome) }
    for each in groups where each.head.size < group.head.size { fallBehind(each, group.head.size) }
    return .found(
      Found(head: group.head, tree: tree, sources: group.sources, witnessed: group.witnessed))
  }

  /// Compares the kept head, what others showed and what is pending with a proven tree.
  private func compare(_ tree: LogTree) throws(FetchFailure) -> Outcome? {
    let heads =
      [state.head].compactMap(\.self) + groups.map(\.head)
      + state.seen.filter { $0.standing == .pending }.map(\.head)
    for head in heads where head.size <= tree.head.size {
      guard tree.isProven(head.size - 1) || head.size == 0 || head.size == tree.head.size else {
        continue
      }
      if let evidence = tree.compare(head) { return try fork(evidence) }
      if let seen = state.seen.first(where: { $0.head.isSame(as: head) && $0.standing == .pending })
      {
        state.headsMatched += 1
        state.remember(SeenHead(head, .proven, peer: seen.peer, firstSeen: seen.firstSeen))
      }
    }
    return nil
  }

  /// The sources show what is kept. What is pending, and what slower sources show, is compared too.
  private func stay(at group: Group, _ kept: LogHead) throws(FetchFailure) -> Step<Found> {
    var found = Found(
      head: group.head, tree: nil, sources: group.sources, witnessed: group.witnessed)
    let pending =
      state.seen.filter { $0.standing == .pending }.map(\.head)
      + groups.map(\.head).filter { head in
        !state.seen.contains { $0.head.isSame(as: head) && $0.standing == .proven }
      }
    let smaller = pending.filter { $0.size < kept.size && $0.size > 0 }
    // The very note that was kept with the head needs no proof again.
    let isKnown = offers.allSatisfy {
      $0.release.note == state.newest?.note || $0.index >= kept.size
        || (setup.pinned == nil && $0.index < state.newest?.manifest.release ?? -1)
    }
    if !isKnown || !smaller.isEmpty || state.newest == nil {
      let tree = try LogTree(kept, edge: state.edge)
      var leaves = Set(offers.map(\.index).filter { $0 < kept.size })
      leaves.insert(kept.size - 1)
      leaves.formUnion(smaller.map { $0.size - 1 })
      do throws(FetchFailure) {
        try prove(leaves, of: tree, asking: group.sources)
        if let outcome = try compare(tree) { return .ended(outcome) }
        found.tree = tree
      } catch {
        if error.category == .interrupted { throw error }
        guard isKnown, state.newest != nil else { return .ended(.nothing(failures)) }
        found.uncompared = smaller
      }
    }
    for each in groups where each.head.size < kept.size { fallBehind(each, kept.size) }
    return .found(found)
  }

  private func fallBehind(_ group: Group, _ size: Int64) {
    for source in group.sources {
      blame(
        source,
        FetchFailure(
          .stale,
          "this source is behind: it shows \(group.head.size) releases, and \(size) are known"))
    }
  }

  /// Every source shows less than what is kept: they are behind, or something is being hidden.
  private func fallBehind(
    _ kept: LogHead, _ smaller: [Group], isWhole: Bool
  ) throws(FetchFailure) -> Step<Found> {
    var found = Found(head: kept, tree: nil, sources: [], isBehind: true)
    for group in smaller {
      switch try comparePrefix(group, kept) {
      case .found(let tree): found.prefix = found.prefix ?? tree
      case .ended(let outcome): return .ended(outcome)
      }
      fallBehind(group, kept.size)
    }
    guard isWhole else { return .found(found) }
    switch IntegrityRules.behind(since: state.behindSince, now: now, repeats: round.repeats) {
    case .askAgain(let atOnce):
      asksAtOnce = atOnce
      return .ended(.outOfStep(failures[smaller[0].sources[0]] ?? FetchFailure(.stale, "behind")))
    case .stale:
      state.behindSince = state.behindSince ?? now
      return .found(found)
    case .rollback:
      return .ended(
        alarm(
          .rollback, release: kept.lastRelease, instance: "\(kept.size) \(kept.root)",
          "every source shows at most \(smaller[0].head.size) releases of \(setup.origin), and "
            + "\(kept.size) were there before"))
    }
  }

  /// - Returns: its tree, if it is proven to be a prefix of what is kept and tiles of it are there.
  private func comparePrefix(_ group: Group, _ kept: LogHead) throws(FetchFailure) -> Step<LogTree?>
  {
    guard group.head.size > 0 else { return .found(nil) }
    if let seen = state.seen.first(where: { $0.head.size == group.head.size }),
      seen.standing == .proven
    {
      guard seen.head.isSame(as: group.head) else {
        return .ended(try fork(seen.head, group.head, hashes: []))
      }
    } else {
      do throws(FetchFailure) {
        let tree = try LogTree(kept, edge: state.edge)
        // They need not have tiles of what they do not show: no fault.
        try tree.prove(
          [group.head.size - 1, kept.size - 1], by: sources, patience: setup.patience
        ) { _, _ in }
        if let evidence = tree.compare(group.head) { return .ended(try fork(evidence)) }
        note(group, .proven)
      } catch {
        if error.category == .interrupted { throw error }
        note(group, .pending)
        return .found(nil)
      }
    }
    guard setup.pinned != nil else { return .found(nil) }
    let tree = try LogTree(group.head)
    var leaves: Set<Int64> = [group.head.size - 1]
    leaves.formUnion(offers.map(\.index))
    do throws(FetchFailure) { try prove(leaves, of: tree, asking: group.sources) } catch {
      if error.category == .interrupted { throw error }
      return .found(nil)
    }
    return .found(tree)
  }

  /// Remembers what a group shows.
  func note(_ group: Group, _ standing: SeenHead.Standing) {
    state.remember(
      SeenHead(group.head, standing, peer: sources[group.sources[0]].name, firstSeen: now))
  }
}
