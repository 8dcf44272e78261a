import Failure
import FetchResKit
import ReleaseLog
import SignedNote

/// What `fetchres integrity report` says about each origin.
enum IntegrityReport {
  static func print(
    _ text: String?, _ arguments: ParsedArguments
  ) throws(FetchFailure) -> Int32 {
    let integrity = try IntegrityCommand.integrity(arguments)
    var origins = integrity.origins()
    if let text {
      let origin = try IntegrityCommand.origin(text)
      guard origins.contains(origin) else {
        throw FetchFailure(
          .unavailable, "nothing is known of \(origin) yet", hint: "'fetchres pull' begins it")
      }
      origins = [origin]
    }
    let trust = try integrity.trust.load()
    for origin in origins {
      let log = try integrity.log(of: origin)
      if arguments.has("--json") { json(log, trust) } else { plain(log, trust) }
    }
    if origins.isEmpty, !arguments.has("--json") {
      Talk.note("nothing was pulled yet: there is nothing to report")
    }
    return 0
  }

  /// How the newest state came to be believed.
  private static func signature(_ log: LogState, _ trust: Trust) -> String {
    guard let head = log.head else { return "nothing verified yet" }
    if trust.keys(of: log.origin).contains(head.key) { return "signed by a key that you trust" }
    if log.successions.contains(where: { $0.key == head.key }) {
      return "signed by a key that the one before had announced"
    }
    return "signed by a key that was given for one run; 'fetchres trust add' keeps it"
  }

  private static func plain(_ log: LogState, _ trust: Trust) {
    Output.line(log.origin)
    func line(_ word: String, _ text: String) {
      Output.line("  \(word)\(String(repeating: " ", count: max(1, 11 - word.count)))\(text)")
    }
    if let head = log.head {
      line(
        "verified",
        "\(Quantities.counted(head.size, "release")), the newest is release \(head.lastRelease)"
          + (log.newest.map { ", version \($0.manifest.version)" } ?? ""))
      line("root", "\(head.root)")
      line("signature", signature(log, trust))
      line("", "\(head.key)")
    } else {
      line("verified", "nothing yet")
    }
    line("checked", log.lastCheck.map { UTCDate(seconds: $0).text } ?? "never")
    line(
      "compared",
      "\(Quantities.counted(log.headsSeen, "state")) seen, "
        + "\(Quantities.grouped(log.headsMatched)) the same as here, from "
        + Quantities.counted(Int64(log.peers.count), "other place"))
    let pending = log.seen.filter { $0.standing == .pending }
    if !pending.isEmpty {
      line(
        "open",
        "\(Quantities.counted(Int64(pending.count), "state")) that somebody showed and nobody has "
          + "explained yet")
    }
    line("samples", "\(Quantities.counted(log.samplesProven, "block")) proven")
    for fault in log.faults {
      line(
        "faults",
        "\(fault.source): \(Quantities.counted(fault.count, "time")) \(fault.category.rawValue)")
    }
    let open = log.alerts.unacknowledged.count
    guard !log.alerts.alerts.isEmpty else { return line("alerts", "none: all is well") }
    line(
      "alerts",
      "\(Quantities.counted(Int64(log.alerts.alerts.count), "alert")), "
        + "\(Quantities.grouped(Int64(open))) not acknowledged")
    for alert in log.alerts.alerts.reversed() {
      line(
        alert.isAcknowledged ? "seen" : "new",
        "\(UTCDate(seconds: alert.time).text) \(alert.kind.rawValue)")
      line("", alert.kind.meaning)
      line("", alert.message)
      line("", "what to do: \(alert.kind.advice)")
    }
    if open > 0 { line("", "'fetchres integrity ack \(log.origin)' says that you have seen it") }
  }

  private static func json(_ log: LogState, _ trust: Trust) {
    var line = JSONLine("report")
    line.add("origin", log.origin.name)
    line.add("size", log.head?.size)
    line.add("release", log.head?.lastRelease)
    line.add("root", log.head?.root.description)
    line.add("version", log.newest?.manifest.version)
    line.add("key", log.head?.key.description)
    line.add("signature", signature(log, trust))
    line.add("checked", log.lastCheck.map { UTCDate(seconds: $0).text })
    line.add("headsSeen", log.headsSeen)
    line.add("headsMatched", log.headsMatched)
    line.add("peers", Int64(log.peers.count))
    line.add("pending", Int64(log.seen.count { $0.standing == .pending }))
    line.add("samplesProven", log.samplesProven)
    line.add("unacknowledged", Int64(log.alerts.unacknowledged.count))
    line.add(
      "alerts",
      log.alerts.alerts.map { alert in
        var entry = JSONLine()
        entry.add("kind", alert.kind.rawValue)
        entry.add("release", alert.release)
        entry.add("time", UTCDate(seconds: alert.time).text)
        entry.add("message", alert.message)
        entry.add("evidence", alert.evidence)
        entry.add("acknowledged", alert.isAcknowledged)
        return entry
      })
    line.add(
      "faults",
      log.faults.map { fault in
        var entry = JSONLine()
        entry.add("source", fault.source)
        entry.add("category", fault.category.rawValue)
        entry.add("count", fault.count)
        return entry
      })
    line.print()
  }
}
