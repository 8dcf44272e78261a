// This file is empty in the product. Builds for the tests of the tests are made with
// `-Xswiftc -DFETCHRES_MUTANTS`; there one of these faults can be chosen, and a drill has to find it.
#if FETCHRES_MUTANTS
  /// A fault of the program itself, made on purpose.
  package enum Mutant: String, Sendable, CaseIterable {
    /// Every block counts as verified.
    case skipProof = "skip-proof"
    /// Blocks are written before they are checked.
    case writeFirst = "write-first"
    /// What the journal claims is not hashed again.
    case trustJournal = "trust-journal"
    /// The version is finished when one block is still missing.
    case earlyMarker = "early-marker"
    /// The body of a 200 answer is taken for the range that was asked for.
    case appendWhole = "append-whole"
    /// One tile is believed without a look at its parent.
    case skipTile = "skip-tile"
    /// Retrying has no end.
    case neverGiveUp = "never-give-up"

    /// The variable of the environment that chooses one.
    package static let variable = "FETCHRES_MUTANT"

    // Unsafe: written once, before there is a second thread.
    nonisolated(unsafe) package static var chosen: Mutant?

    package var isChosen: Bool { Self.chosen == self }
  }
#endif
