import Failure

extension PullRequest {
  /// Seconds: some thirty years.
  private static let longestTime = 1e9

  /// - Throws: `usage` for numbers that mean nothing, and for header lines that are none.
  func check() throws(FetchFailure) {
    guard connections >= 1, memory >= 0, rateLimit ?? 1 >= 1, keep ?? 1 >= 1,
      maximumAge ?? 0 >= 0, stallRate >= 0
    else { throw FetchFailure(.usage, "a number of the request is below what means something") }
    for time in [connectTimeout, firstByteTimeout, stallWindow, giveUpAfter] {
      guard time > 0, time <= Self.longestTime else {
        throw FetchFailure(.usage, "a time has to be more than none, and at most a billion seconds")
      }
    }
    for header in headers { try HeaderLine.check(header) }
  }
}
