/// How long to wait after failures, in seconds, and when to stop trying.
package struct RetryPolicy: Sendable, Equatable {
  /// The run ends when no block was verified for this long.
  package var giveUpAfter: Double
  /// A block that failed this often ends the run.
  package var attemptsPerBlock = 5

  package init(giveUpAfter: Double = 600) { self.giveUpAfter = giveUpAfter }

  /// The wait after `failures` incidents of a source in a row: none for the first two, then a fixed
  /// ladder, from the ninth doubling from 3 h to at most 7 days.
  package static func ladderWait(failures: Int) -> Double {
    let rungs: [Double] = [0, 0, 5, 15, 60, 300, 900, 3_600]
    if failures <= 0 { return 0 }
    if failures <= rungs.count { return rungs[failures - 1] }
    let doublings = min(failures - rungs.count - 1, 16)
    return min(Double(3 * 3_600) * Double(1 << doublings), 7 * 86_400)
  }

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
