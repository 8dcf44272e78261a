import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote

/// Keys that follow each other, and a head that none of them signed.
extension LogJudge {
  private static let maximumSteps = 64

  /// The step from the key of the kept manifest, which announced it, to that of `manifest`.
  func succession(to manifest: Manifest) throws(FetchFailure) -> LogState.Succession {
    guard let kept = state.newest?.manifest else {
      preconditionFailure("ReleaseLog: a successor has a predecessor")
    }
    return LogState.Succession(key: manifest.key, predecessor: kept.key, since: manifest.since)
  }

  /// Walks back from the key of `manifest` through the releases that were missed, to the key of the
  /// kept manifest: each key's first release follows one that announced it.
  ///
  /// - Throws: `key-change` if the way does not lead there.
  func ancestry(
    of manifest: Manifest, in tree: LogTree, asking first: [Int]
  ) throws(FetchFailure) -> [LogState.Succession] {
    guard let kept = state.newest?.manifest else {
      preconditionFailure("ReleaseLog: a successor has a predecessor")
    }
    let refusal = ring.change(to: manifest, after: kept)
    var chain: [LogState.Succession] = []
    var (key, since) = (manifest.key, manifest.since)
    for _ in 0..<Self.maximumSteps {
      let index = since - 1
      guard index >= kept.release, index < tree.head.size else { throw refusal }
      let note = try entry(index, of: tree, asking: first)
      guard let before = try? Manifest(selfSigned: note), before.origin == setup.origin,
        before.release == index, before.nextKey == KeyRing.digest(of: key)
      else { throw refusal }
      chain.insert(
        LogState.Succession(key: key, predecessor: before.key, since: since), at: 0)
      if before.key == kept.key {
        guard before.nextKey == kept.nextKey, before.since == kept.since else { throw refusal }
        return chain
      }
      (key, since) = (before.key, before.since)
    }
    throw refusal
  }

  /// - Returns: false if it begins at a key that is none of this run: where a manifest counted for its
  ///   co-signature alone, what follows does so too, and no key of the chain signs by itself.
  @discardableResult
  func accept(_ chain: [LogState.Succession]) -> Bool {
    guard let first = chain.first, ring.keys.contains(first.predecessor) else { return false }
    for step in chain {
      state.successions.append(step)
      events.append(
        .note(
          "the key of \(setup.origin) changed at release \(step.since), as the old one had announced: "
            + "it is \(step.key) now",
          hint: "the old one counts no more for newer releases"))
    }
    ring = KeyRing(trusted: setup.trusted, state)
    return true
  }

  /// A head that no key of this run signed cannot be continued: once a manifest verified under one of
  /// them, it is set aside, and first use begins again.
  ///
  /// - Returns: whether there was one.
  func setAsideForeignHead() throws(FetchFailure) -> Bool {
    guard !offers.isEmpty, let head = state.head, !ring.signed(head) else { return false }
    let path = try store.keep(evidence: head.note, kind: "head")
    events.append(
      .note(
        "what was known of \(setup.origin) was signed by \(head.key), which is not trusted any more: "
          + "it was set aside as \(path)", hint: nil))
    state.beginAgain()
    ring = KeyRing(trusted: setup.trusted, state)
    return true
  }
}
