/// The rate of the last half minute or so, of which what is older counts less and less. Pure.
struct SmoothedRate: Sendable, Equatable {
  private var weighted = 0.0
  private var weight = 0.0
  private var last: (bytes: Int64, time: Double)?

  /// Seconds after which a change has mostly arrived.
  static let patience = 10.0

  /// - Parameter bytes: all that was fetched so far; less than before counts as nothing new.
  mutating func tick(bytes: Int64, now: Double) {
    guard let last else { return last = (bytes, now) }
    let time = now - last.time
    guard time > 0.05 else { return }
    self.last = (bytes, now)
    let share = time / (Self.patience + time)
    weighted = weighted * (1 - share) + Double(max(0, bytes - last.bytes)) / time * share
    weight = weight * (1 - share) + share
  }

  /// Bytes a second; nil before anything is known.
  var rate: Double? { weight > 0 && weighted > 0 ? weighted / weight : nil }

  static func == (one: SmoothedRate, other: SmoothedRate) -> Bool {
    one.weighted == other.weighted && one.weight == other.weight
      && one.last?.bytes == other.last?.bytes && one.last?.time == other.last?.time
  }
}
