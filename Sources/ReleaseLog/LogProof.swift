import Failure

/// Leaves of a log under its kept head, proven with what is kept and the tiles of one source.
package struct LogProof {
  private let tree: LogTree

  /// - Parameter source: who is asked for tiles that are missing; nil for nobody.
  /// - Throws: `tile-invalid`, and what the source says; `unavailable` if nobody is asked and something
  ///   is missing.
  package init(
    of state: LogState, _ head: LogHead, by source: LogSource?, leaves: Set<Int64>
  ) throws(FetchFailure) {
    tree = try LogTree(head, edge: state.edge)
    if let source { try tree.prove(leaves, by: source) }
    guard leaves.allSatisfy(tree.isProven) else {
      throw FetchFailure(.unavailable, "tiles of the release log are missing")
    }
  }

  /// The proof that another head is no prefix of this one; nil if it is. Requires that the last leaves
  /// of both were asked for.
  package func evidence(against other: LogHead) -> Evidence? { tree.compare(other) }

  /// Whether entry `index`, which was asked for, is this note.
  package func holds(_ note: [UInt8], at index: Int64) -> Bool { tree.holds(note, at: index) }
}
