import Failure

/// Leaves of a log under one signed head, proven with the tiles of one source.
package struct LogProof {
  private let tree: LogTree

  /// - Throws: `tile-invalid`, and what the source says.
  package init(
    of head: LogHead, by source: LogSource, leaves: Set<Int64>
  ) throws(FetchFailure) {
    tree = try LogTree(head)
    try tree.prove(leaves, by: source)
  }

  /// The proof that another head is no prefix of this one; nil if it is. Requires that the last leaves
  /// of both were asked for.
  package func evidence(against other: LogHead) -> Evidence? { tree.compare(other) }

  /// Whether entry `index`, which was asked for, is this note.
  package func holds(_ note: [UInt8], at index: Int64) -> Bool { tree.holds(note, at: index) }
}
