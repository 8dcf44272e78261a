import Failure
import Manifest
import SignedNote

/// Judges what the sources answered against what is kept, once. Asks them for tiles and bundles of the
/// log on the way; changes nothing but its own copy of the state.
final class LogJudge {
  enum Outcome {
    case accepted(Choice)
    /// The run ends, whatever other sources may say.
    case alarm(FetchFailure)
    /// Asking again, past caches, may show more.
    case outOfStep(FetchFailure)
    /// No source gave what is needed; why, for each that failed.
    case nothing([Int: FetchFailure])
  }

  struct Choice {
    var release: LogState.Release
    var newest: LogState.Release
  }

  /// A good manifest, and the source that gave it.
  struct Offer {
    var source: Int
    var release: LogState.Release

    var index: Int64 { release.manifest.release }
  }

  /// A good checkpoint, and the sources that show this head.
  struct Group {
    var head: LogHead
    var sources: [Int]
    /// The newest counted cosignature.
    var witnessed: Int64?
  }

  let setup: LogMonitor.Setup
  let sources: [LogSource]
  let round: LogRound
  let base: LogState
  let clock: LogClock
  let store: LogStore
  let now: Moment

  /// As it will be kept if the outcome is accepted or an alarm.
  var state: LogState
  var ring: KeyRing
  var events: [LogMonitor.Event] = []
  var newAlerts: [Alert] = []
  /// What ends the run all the same, once the state is kept.
  var refusal: FetchFailure?
  /// Whether an outcome out of step is to be asked about without a wait.
  var asksAtOnce = false

  var offers: [Offer] = []
  var groups: [Group] = []
  /// Why a source is to blame: the first reason counts.
  var failures: [Int: FetchFailure] = [:]

  init(
    _ setup: LogMonitor.Setup, _ sources: [LogSource], _ round: LogRound, base: LogState,
    _ clock: LogClock, _ store: LogStore
  ) {
    (self.setup, self.sources, self.round, self.base) = (setup, sources, round, base)
    (self.clock, self.store) = (clock, store)
    state = base
    state.runs += 1
    now = clock.moment(run: state.runs)
    ring = KeyRing(trusted: setup.trusted, state)
  }

  func run() throws(FetchFailure) -> Outcome {
    try judgeManifests()
    guard !offers.isEmpty else { return .nothing(failures) }
    judgeCheckpoints()
    guard !groups.isEmpty else { return .nothing(failures) }
    let found: Found
    switch try compareHeads() {
    case .ended(let outcome): return outcome
    case .found(let best): found = best
    }
    let choice: Choice
    switch try choose(found) {
    case .ended(let outcome): return outcome
    case .found(let chosen): choice = chosen
    }
    return try conclude(found, choice)
  }

  /// A step of judging: what it found, or how all of it ended.
  enum Step<Value> {
    case found(Value)
    case ended(Outcome)
  }

  /// Says that a source is to blame while the run goes on.
  func blame(_ source: Int, _ failure: FetchFailure) {
    if failures[source] == nil { failures[source] = failure.from(sources[source].name) }
  }

  /// The order in which to ask for tiles: those first that should have them, and last who is to blame
  /// for something already.
  func order(_ first: [Int]) -> [Int] {
    let all = first + sources.indices.filter { !first.contains($0) }
    return all.filter { failures[$0] == nil } + all.filter { failures[$0] != nil }
  }

  /// Proves leaves with tiles of whichever source has good ones.
  ///
  /// - Throws: what the first source said if none has.
  func prove(
    _ leaves: Set<Int64>, of tree: LogTree, asking first: [Int]
  ) throws(FetchFailure) {
    let order = order(first)
    try tree.prove(leaves, by: order.map { sources[$0] }, patience: setup.patience) {
      blame(order[$0], $1)
    }
  }

  // MARK: Notes

  /// Judges every manifest; where one shows that the key was followed by an announced one, all again.
  private func judgeManifests() throws(FetchFailure) {
    var isSettled = false
    while !isSettled {
      (offers, failures, isSettled) = ([], [:], true)
      for (index, view) in round.views.enumerated() {
        do throws(FetchFailure) {
          let answer = try view.manifest.get()
          let isNew = try judgeManifest(answer, from: index)
          if isNew {
            isSettled = false
            break
          }
        } catch {
          if error.category == .interrupted { throw error }
          blame(index, error)
        }
      }
      if isSettled, try setAsideForeignHead() { isSettled = false }
    }
  }

  /// - Returns: whether it showed a succession that was not known.
  private func judgeManifest(
    _ answer: LogSource.Answer, from index: Int
  ) throws(FetchFailure) -> Bool {
    let judgement: KeyRing.Judgement
    do throws(FetchFailure) { judgement = try ring.judge(answer.bytes) } catch {
      throw explained(error, answer)
    }
    switch judgement {
    case .accepted: break
    case .successor(let manifest):
      accept([try succession(to: manifest)])
      return true
    case .distant(let manifest):
      let head = try ring.head(try round.views[index].checkpoint.get().bytes, alsoBy: manifest.key)
      let chain = try ancestry(of: manifest, in: try LogTree(head), asking: [index])
      if accept(chain) { return true }
    }
    let manifest = judgement.manifest
    if let pinned = setup.pinned, manifest.version != pinned {
      throw FetchFailure(
        .manifestMalformed, "the manifest at this URL is that of version \(manifest.version)")
    }
    offers.append(
      Offer(source: index, release: LogState.Release(manifest, note: answer.bytes)))
    return false
  }

  /// Says what came where a note should have: a login page is no manifest, and the user can tell.
  private func explained(_ failure: FetchFailure, _ answer: LogSource.Answer) -> FetchFailure {
    guard failure.category == .noteMalformed, let summary = answer.summary else { return failure }
    var failure = failure
    failure.message += " (the server answered \(summary))"
    return failure
  }

  private func judgeCheckpoints() {
    for (index, view) in round.views.enumerated() {
      do throws(FetchFailure) {
        let answer = try view.checkpoint.get()
        do throws(FetchFailure) {
          let head = try ring.head(answer.bytes)
          let count = try setup.witnesses.check(
            answer.bytes, logKeys: ring.keys, wall: clock.wall())
          add(head, witnessed: count.newest, from: index)
        } catch { throw explained(error, answer) }
      } catch { blame(index, error) }
    }
    groups.sort { $0.head.size > $1.head.size }
  }

  private func add(_ head: LogHead, witnessed: Int64?, from source: Int) {
    guard let index = groups.firstIndex(where: { $0.head.isSame(as: head) }) else {
      return groups.append(Group(head: head, sources: [source], witnessed: witnessed))
    }
    groups[index].sources.append(source)
    if witnessed ?? 0 > groups[index].witnessed ?? 0 {
      (groups[index].head, groups[index].witnessed) = (head, witnessed)
    }
  }
}
