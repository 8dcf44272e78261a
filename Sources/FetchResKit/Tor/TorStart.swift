import Failure

/// How far Tor is, by what was heard of it and when. Pure: words and times go in.
struct TorStart {
  enum State: Equatable {
    /// The percent where they are known.
    case starting(percent: Int?)
    case ready
    /// There for so many seconds, and not through.
    case stalled(after: Double)
    /// Not there for as long as the run waits for anything.
    case absent
  }

  /// What is heard at one time.
  enum Word: Equatable {
    /// The control port says how far it is; 100 is ready.
    case percent(Int)
    /// Something came through it.
    case isThrough
    /// It is there, and nothing comes through.
    case isThere
    /// Nobody is there.
    case isGone
  }

  /// Seconds from the start of a tor daemon in which it gets through, where it can.
  static let patience = 75.0

  private let giveUpAt: Double
  /// When the present start of the daemon began, as far as that is seen.
  private var began: Double
  private var percent: Int?
  private var isGone = false

  /// - Parameter giveUpAfter: seconds for which the run waits for anything without success.
  init(now: Double, giveUpAfter: Double) {
    (began, giveUpAt) = (now, now + giveUpAfter)
  }

  /// When the next word has to be there.
  var deadline: Double { min(giveUpAt, isGone ? .infinity : began + Self.patience) }

  /// - Parameter word: nil where nothing new was heard by now.
  mutating func hear(_ word: Word?, now: Double) -> State {
    switch word {
    case nil: break
    case .isThrough?: return .ready
    case .percent(let new)?:
      guard new < 100 else { return .ready }
      // A daemon that begins again has all the time again.
      if isGone || new < percent ?? 0 { began = now }
      (percent, isGone) = (new, false)
    case .isThere?:
      if isGone { began = now }
      isGone = false
    case .isGone?: (percent, isGone) = (nil, true)
    }
    guard now >= deadline else { return .starting(percent: percent) }
    return isGone ? .absent : .stalled(after: min(now - began, Self.patience))
  }
}

extension TorStart.State {
  /// What the run ends with; nil if it goes on.
  func failure(socks address: String) -> FetchFailure? {
    switch self {
    case .starting, .ready: nil
    case .stalled(let seconds):
      FetchFailure(
        .torStalled,
        "tor did not get through in \(Int(seconds.rounded())) s; this network may be blocking it",
        hint: "run again to resume; bridges are set in the configuration of tor")
    case .absent:
      FetchFailure(
        .proxyUnreachable, "no tor is at \(address)",
        hint: "start tor, or say with --tor-socks where it is, then run again to resume")
    }
  }
}
