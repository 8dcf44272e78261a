import System

/// When something was first seen, on a clock that nobody sets: which start of the machine, seconds
/// since then, and the number of the run.
package struct Moment: Sendable, Equatable {
  /// Nil if it is not known, which counts as another start.
  package var boot: BootIdentity?
  package var seconds: Int64
  /// Counts the pulls of this origin.
  package var run: Int64

  package init(boot: BootIdentity?, seconds: Int64, run: Int64) {
    (self.boot, self.seconds, self.run) = (boot, seconds, run)
  }

  /// How long a thing may last before it is more than caches out of step.
  static let grace: Int64 = 15 * 60

  /// Whether this was long before `now`: more than 15 minutes; where the machine was started again in
  /// between, the second later run counts.
  package func isLongBefore(_ now: Moment) -> Bool {
    guard let boot, let other = now.boot, boot.isSame(as: other) else { return now.run >= run + 2 }
    return now.seconds - seconds > Self.grace
  }
}

/// The clocks of a run, and how it waits; tests bring their own.
package struct LogClock {
  package var wall: () -> Int64
  package var boot: () -> (identity: BootIdentity?, seconds: Int64)
  package var monotonic: () -> Double

  package init(
    wall: @escaping () -> Int64 = { Clocks.wall() },
    boot: @escaping () -> (identity: BootIdentity?, seconds: Int64) = {
      (BootIdentity.current(), Int64(Clocks.sinceBoot()))
    },
    monotonic: @escaping () -> Double = { Clocks.monotonic() }
  ) {
    (self.wall, self.boot, self.monotonic) = (wall, boot, monotonic)
  }

  func moment(run: Int64) -> Moment {
    let boot = boot()
    return Moment(boot: boot.identity, seconds: boot.seconds, run: run)
  }
}
