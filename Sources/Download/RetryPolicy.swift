/// How long to wait after failures, in seconds, and when to stop trying.
package struct RetryPolicy: Sendable, Equatable {
  /// The run ends when no block was verified for this long.
  package var giveUpAfter: Double
  /// A block that failed this often ends the run.
  package var attemptsPerBlock = 5

  package init(giveUpAfter: Double = 600) { self.giveUpAfter = giveUpAfter }

  /// The wait before a block is asked for again that failed `attempts` times: short, so that a source
  /// that is merely confused is asked again at once, and growing, so that it is not hammered.
  package static func blockWait(attempts: Int) -> Double {
    attempts <= 1 ? 0 : min(2, 0.05 * Double(1 << (2 * min(attempts - 2, 4))))
  }

  /// Spreads a wait by up to a tenth, so that many clients do not come back at once. `random` is
  /// within 0..<1.
  package static func jittered(_ wait: Double, random: Double) -> Double {
    wait * (1 + 0.1 * random)
  }
}
