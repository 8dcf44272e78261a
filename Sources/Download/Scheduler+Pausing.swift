/// Time that is nobody's.
extension Scheduler {
  /// Up to now the process did not run for so many seconds: nobody was waited for meanwhile.
  package mutating func passedOver(_ seconds: Double, now: Double) {
    func moved(_ time: Double) -> Double { min(time + seconds, now) }
    (lastProgress, lastArrival) = (moved(lastProgress), moved(lastArrival))
    for (id, state) in active { active[id]?.start = moved(state.start) }
  }
}
