/// The rate of the last few seconds. Pure.
package struct RateMeter: Sendable {
  private var samples: [(time: Double, bytes: Int64)]

  static let window = 3.0
  /// Samples closer than this are one.
  private static let resolution = 0.05

  package init(now: Double) { samples = [(now, 0)] }

  /// - Parameter bytes: everything that has arrived so far.
  package mutating func tick(bytes: Int64, now: Double) {
    guard let last = samples.last, now - last.time >= Self.resolution else { return }
    samples.append((now, bytes))
    let old = samples.prefix { now - $0.time > Self.window }.count
    if old > 1 { samples.removeFirst(old - 1) }
  }

  /// Bytes a second; nil before anything came.
  package func rate(now: Double) -> Double? {
    guard let first = samples.first, let last = samples.last, last.bytes > first.bytes else {
      return nil
    }
    return Double(last.bytes - first.bytes) / max(now - first.time, Self.resolution)
  }
}
