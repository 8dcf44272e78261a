/// Finds how many connections are worth having: adds some while the total rate grows with them, takes
/// them back when it does not, and looks again from time to time. Pure.
package struct ConnectionGovernor: Sendable {
  package let maximum: Int
  /// How many may be open now.
  package private(set) var allowed: Int

  private var intervalStart: Double
  private var bytesAtStart: Int64 = 0
  /// What a trial has to beat: the number of connections before it, and their rate.
  private var before: (connections: Int, rate: Double)?
  private var nextTrial: Double

  static let first = 2
  /// Seconds over which a rate is measured, and a glance at one that leaves no doubt.
  static let interval = 0.25
  static let glance = 0.05
  /// More connections have to bring this much more, or they are not kept.
  static let gain = 1.15
  /// Below this rate a connection costs next to nothing, and a server may well hold each of them back:
  /// no proof is asked for. Bytes a second.
  static let cheap = 32e6
  /// Seconds after a trial that failed.
  static let pause = 5.0

  package init(maximum: Int, now: Double) {
    self.maximum = max(1, maximum)
    allowed = min(Self.first, self.maximum)
    intervalStart = now
    nextTrial = now
  }

  /// - Parameter bytes: everything that has arrived in this run so far.
  package mutating func tick(bytes: Int64, now: Double) {
    let (seconds, added) = (now - intervalStart, bytes - bytesAtStart)
    // As long as nothing has come, that is no matter of how many ask.
    guard added > 0 else { return intervalStart = now }
    let rate = Double(added) / max(seconds, Self.glance)
    if seconds >= Self.glance, seconds < Self.interval {
      guard before == nil, now >= nextTrial, allowed < maximum,
        rate < Self.cheap * Double(allowed)
      else { return }
      allowed = min(maximum, allowed * 2)
      (intervalStart, bytesAtStart) = (now, bytes)
      return
    }
    guard seconds >= Self.interval else { return }
    (intervalStart, bytesAtStart) = (now, bytes)
    if let before {
      self.before = nil
      guard rate < Self.cheap * Double(allowed) || rate >= before.rate * Self.gain else {
        allowed = before.connections
        nextTrial = now + Self.pause
        return
      }
    }
    guard now >= nextTrial, allowed < maximum else { return }
    before = (allowed, rate)
    allowed = min(maximum, allowed * 2)
  }
}
