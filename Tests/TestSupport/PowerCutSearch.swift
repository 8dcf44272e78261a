/// The search for what a power cut or a kill can break: ends a piece of work at each of its
/// operations, and looks at every outcome; under a sanitizer, at those of every 16th.
package struct PowerCutSearch {
  /// How a piece of work ended.
  package struct End: CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
      case powerCut(MemoryFileSystem.Survivors)
      /// The process alone is gone: nothing is lost, and nothing more durable than before.
      case kill
    }

    package let kind: Kind
    /// The operation that did not happen any more; nil if the work was complete.
    package let operation: Int?

    package var isComplete: Bool { operation == nil }

    package var description: String {
      let place = operation.map { "before operation \($0)" } ?? "behind the last operation"
      return "\(kind) \(place)"
    }
  }

  /// How many places the work was ended at, and how many states there were to look at.
  package private(set) var points = 0
  package private(set) var states = 0

  private let seeds: Range<UInt64>
  private let first: Int

  /// - Parameters:
  ///   - seeds: how many random outcomes of every cut to look at.
  ///   - first: the operation to begin with.
  package init(seeds: UInt64, from first: Int = 1) { (self.seeds, self.first) = (0..<seeds, first) }

  /// - Parameters:
  ///   - start: what is on the disk before; it is without power afterwards.
  ///   - work: is ended at each operation in turn, and once it is complete. What it throws is ignored
  ///     as long as it is ended.
  ///   - examine: gets each state, that of the kill first; the more is at stake, the more there are.
  package mutating func run(
    from start: MemoryFileSystem, work: (MemoryFileSystem) throws -> Void,
    examine: (MemoryFileSystem, End) throws -> Void
  ) throws {
    var operation = first
    while true {
      let fileSystem = start.copy()
      fileSystem.cutPower(before: operation)
      var isComplete = false
      do {
        try work(fileSystem)
        isComplete = true
      } catch {
        // Ended, and not by the cut: the work itself does not work.
        if fileSystem.operationCount < operation { throw error }
      }
      // Work that forgives a failed call may go on to its end without power.
      isComplete = isComplete && fileSystem.operationCount < operation
      let place = isComplete ? nil : operation
      let outcomes = fileSystem.outcomes(seeds: seeds)
      points += 1
      states += 1 + outcomes.count
      if isComplete || operation.isMultiple(of: Sanitizer.stride) {
        try examine(fileSystem.restart(), End(kind: .kill, operation: place))
        for outcome in outcomes {
          try examine(
            fileSystem.crash(survivors: outcome), End(kind: .powerCut(outcome), operation: place))
        }
      }
      if isComplete { return }
      operation += 1
    }
  }
}
