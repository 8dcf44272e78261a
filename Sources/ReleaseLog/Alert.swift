import Failure

/// Something that is wrong about the publisher or about the whole view of this client, not about one
/// source: a user has to see it.
package struct Alert: Sendable, Hashable {
  /// The words are those of ``FailureCategory``.
  package enum Kind: String, Sendable, CaseIterable {
    case rollback
    case fork
    case withheld
    case keyChange = "key-change"
    case badSignature = "bad-signature"
    case notLogged = "not-logged"
    case versionReused = "version-reused"

    package init?(_ category: FailureCategory) { self.init(rawValue: category.rawValue) }

    package var category: FailureCategory {
      switch self {
      case .rollback: .rollback
      case .fork: .fork
      case .withheld: .withheld
      case .keyChange: .keyChange
      case .badSignature: .badSignature
      case .notLogged: .notLogged
      case .versionReused: .versionReused
      }
    }

    /// Never forgotten before somebody has seen it.
    var isKept: Bool {
      switch self {
      case .fork, .rollback, .keyChange, .versionReused: true
      case .withheld, .badSignature, .notLogged: false
      }
    }

    /// What it means, for somebody who only wants the file.
    package var meaning: String {
      switch self {
      case .rollback:
        "every server shows an older state than the one you have seen: somebody may be keeping "
          + "newer versions from you"
      case .fork:
        "the publisher signed two different histories: different people are shown different things"
      case .withheld:
        "somebody else has seen a state that no server shows you, or shows to be part of its own"
      case .keyChange:
        "the releases are signed by a key that the old one never announced: the publisher lost the "
          + "old one, or somebody else took over"
      case .badSignature:
        "what the servers show was not signed by the publisher: it was changed on the way or on "
          + "the server"
      case .notLogged:
        "a release was signed that the public list of releases does not hold: it may have been made "
          + "for you alone"
      case .versionReused:
        "one version name stands for two different contents"
      }
    }

    /// What to do about it.
    package var advice: String {
      switch self {
      case .rollback, .withheld:
        "ask from another network or another mirror, and compare with somebody else: "
          + "'fetchres integrity gossip' and 'ingest'"
      case .fork:
        "do not use new releases; send the evidence to the publisher and to others"
      case .keyChange:
        "ask the publisher by another way; if the new key is right: 'fetchres trust add'"
      case .badSignature:
        "try another network or mirror; if it stays, tell the publisher"
      case .notLogged, .versionReused:
        "ask the publisher which one is right, and keep what you have until then"
      }
    }
  }

  package var kind: Kind
  /// The release that it is about.
  package var release: Int64?
  /// What tells this one from others of its kind and release: roots, keys.
  package var instance: String
  /// Seconds since 1970 on the local clock, when it was first seen.
  package var time: Int64
  package var message: String
  /// The path of a file that proves it.
  package var evidence: String?
  package var isAcknowledged = false

  package init(
    _ kind: Kind, release: Int64?, instance: String, time: Int64, message: String,
    evidence: String? = nil
  ) {
    (self.kind, self.release, self.instance) = (kind, release, instance)
    (self.time, self.message, self.evidence) = (time, message, evidence)
  }

  /// A fork, and where its evidence is.
  package init(fork evidence: Evidence, path: String, time: Int64) {
    let (smaller, larger) = (evidence.smaller, evidence.larger)
    self.init(
      .fork, release: smaller.lastRelease,
      instance: "\(smaller.size) \(smaller.root) \(larger.size) \(larger.root)", time: time,
      message:
        "the publisher of \(evidence.origin) signed two histories, one of \(smaller.size) and "
        + "one of \(larger.size) releases, and neither continues the other; the evidence is in \(path)",
      evidence: path)
  }

  func isSame(as other: Alert) -> Bool {
    kind == other.kind && release == other.release && instance == other.instance
  }
}

/// The alerts about one origin, oldest first.
package struct AlertList: Sendable, Hashable {
  package private(set) var alerts: [Alert] = []

  static let capacity = 20
  /// Beyond this many that may not be forgotten, one more would say nothing new.
  static let hardLimit = 100

  package init(_ alerts: [Alert] = []) { self.alerts = alerts }

  package var unacknowledged: [Alert] { alerts.filter { !$0.isAcknowledged } }

  /// Files an alert.
  ///
  /// - Returns: whether it is a new one: the same kind, release and instance is raised once.
  package mutating func file(_ alert: Alert) -> Bool {
    guard !alerts.contains(where: { $0.isSame(as: alert) }), alerts.count < Self.hardLimit else {
      return false
    }
    alerts.append(alert)
    while alerts.count > Self.capacity {
      // What somebody has seen goes first, then what may be missed; else the list grows.
      let leaving =
        alerts.firstIndex { $0.isAcknowledged }
        ?? alerts.firstIndex { !$0.kind.isKept }
      guard let leaving else { break }
      alerts.remove(at: leaving)
    }
    return true
  }

  /// - Returns: how many there were to acknowledge.
  package mutating func acknowledgeAll() -> Int {
    let count = unacknowledged.count
    for index in alerts.indices { alerts[index].isAcknowledged = true }
    return count
  }
}
