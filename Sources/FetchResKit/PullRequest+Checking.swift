import Failure

extension PullRequest {
  /// Seconds: some thirty years.
  private static let longestTime = 1e9

  /// - Throws: `usage` for numbers that mean nothing, and for header lines that are none.
  func check() throws(FetchFailure) {
    let numbers: [(name: String, isValid: Bool)] = [
      ("connections", connections >= 1), ("memory", memory >= 0), ("keep", keep ?? 1 >= 1),
      ("limit-rate", rateLimit ?? 1 >= 1), ("stall", stallRate >= 0),
      ("max-age", maximumAge ?? 0 >= 0),
    ]
    for (name, isValid) in numbers where !isValid {
      throw FetchFailure(.usage, "\(name) is below what means something")
    }
    let times = [
      ("connect-timeout", connectTimeout), ("first-byte-timeout", firstByteTimeout),
      ("stall", stallWindow), ("give-up-after", giveUpAfter),
    ]
    for (name, time) in times {
      // Not a number is neither.
      guard time > 0, time <= Self.longestTime else {
        throw FetchFailure(
          .usage, "\(name) has to be more than no time, and at most a billion seconds")
      }
    }
    for header in headers { try HeaderLine.check(header) }
  }
}
