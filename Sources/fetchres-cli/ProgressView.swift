import Failure
import FetchResKit
import System

/// Shows a pull: as sentences and one progress line, as JSON, or not at all.
final class ProgressView {
  private enum Mode {
    case json
    case quiet
    case plain
  }

  private let mode: Mode
  private let isVerbose: Bool
  private let showsProgress: Bool
  private let isTerminal: Bool
  private var lineIsOpen = false
  private var nextLine = 0.0
  private var begun: (version: String, size: Int64)?
  /// Alerts are said at the end, where they are not scrolled away.
  private var alerts: [String] = []
  private var reminder: String?

  init(_ arguments: ParsedArguments) throws(FetchFailure) {
    let modes = ["--json", "--quiet", "--verbose", "--progress"].filter { arguments.has($0) }
    guard modes.count <= 1 else {
      throw FetchFailure(.usage, "\(modes[0]) and \(modes[1]) exclude each other")
    }
    mode = arguments.has("--json") ? .json : arguments.has("--quiet") ? .quiet : .plain
    isVerbose = arguments.has("--verbose")
    isTerminal =
      Terminal.isTerminal(Terminal.standardError)
      && ThisProcess.environment("TERM") != "dumb"
    showsProgress = mode == .plain && (isTerminal || arguments.has("--progress"))
  }

  func show(_ event: FetchEvent) {
    keep(event)
    switch mode {
    case .json: showJSON(event)
    case .quiet: break
    case .plain: showPlain(event)
    }
  }

  func complete(_ result: PullResult) {
    closeLine()
    sayAlerts(but: nil)
    switch mode {
    case .json:
      var line = JSONLine("complete")
      line.add("origin", result.origin)
      line.add("version", result.version)
      line.add("release", result.release)
      line.add("size", result.size)
      line.add("fetched", result.fetched)
      line.add("reused", result.reused)
      line.add("path", result.path)
      line.add("newerVersion", result.newerVersion)
      line.print()
    case .plain, .quiet:
      if mode == .plain {
        Talk.note(
          "\(result.origin) \(result.version) is complete: \(Quantities.shown(result.size)), "
            + "\(Quantities.shown(result.fetched)) fetched"
            + (result.reused > 0 ? ", \(Quantities.shown(result.reused)) taken from this disk" : "")
        )
      }
      if let path = result.path { Output.write(path + "\n") }
    }
  }

  func fail(_ failure: FetchFailure) {
    closeLine()
    if mode == .json {
      var line = JSONLine("failed")
      line.add(failure)
      line.add("exitCode", Int64(failure.exitCode))
      line.print()
    }
    sayAlerts(but: failure.message)
    Talk.error(failure)
  }

  private func sayAlerts(but message: String?) {
    guard mode != .quiet else { return }
    for alert in alerts where alert != message { Talk.warning(alert) }
    if let reminder { Talk.warning(reminder) }
  }

  private func keep(_ event: FetchEvent) {
    switch event {
    case .alert(_, let message, _): alerts.append(message)
    case .unacknowledgedAlerts(let count, let origin):
      reminder =
        "\(Quantities.counted(Int64(count), "alert")) about \(origin) "
        + "\(count == 1 ? "is" : "are") not acknowledged: 'fetchres integrity' says more"
    case .manifest, .begin, .progress, .blockRejected, .sourceFailed, .sources, .route, .note: break
    }
  }

  private func showPlain(_ event: FetchEvent) {
    switch event {
    case .manifest(let origin, let version, let release, let size, let blocks):
      guard isVerbose else { return }
      say("\(origin) \(version) is release \(release): \(size) bytes in \(blocks) blocks")
    case .begin(let version, let size, let claimed):
      begun = (version, size)
      say(
        "fetching \(version), \(Quantities.shown(size))"
          + (claimed > 0 ? ", of which \(Quantities.shown(claimed)) may be on disk" : ""))
    case .progress(let progress):
      showLine(progress)
    case .blockRejected(let failure, let wasOnDisk):
      say(
        wasOnDisk
          ? "\(failure.message) on disk: it is fetched again"
          : "\(failure.message) (\(failure.source ?? "a source")): it is asked for again")
    case .sourceFailed(let failure):
      say("\(failure.category.rawValue): \(failure.message)")
    case .sources(let sources):
      // Who is alone has sent what was fetched.
      guard isVerbose || sources.count > 1 else { return }
      for source in sources { say(Self.shown(source)) }
    case .alert, .unacknowledgedAlerts: break
    case .route(let text):
      if isVerbose { say(text) }
    case .note(let text, let hint):
      say(text)
      if let hint { say("hint: \(hint)") }
    }
  }

  static func shown(_ source: FetchEvent.Source) -> String {
    let sent = source.bytes > 0 ? Quantities.shown(source.bytes) : "nothing"
    let refused = source.refusals.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      $0.value == 1 ? $0.key.rawValue : "\($0.key.rawValue) ×\($0.value)"
    }
    return "\(source.url) sent \(sent)"
      + (refused.isEmpty ? "" : ", refused: \(refused.joined(separator: ", "))")
  }

  private func say(_ text: String) {
    closeLine()
    Talk.note(text)
  }

  /// One line that is rewritten on a terminal, and a line every ten seconds elsewhere.
  private func showLine(_ progress: FetchEvent.Progress) {
    guard showsProgress, let begun else { return }
    let isDone = progress.verified >= progress.total
    let now = Clocks.monotonic()
    guard isTerminal || isDone || now >= nextLine else { return }
    nextLine = now + 10
    let percent =
      progress.total == 0
      ? 100 : min(100, Int(Double(progress.verified) / Double(progress.total) * 100))
    let left = Double(progress.total - progress.verified)
    let eta = progress.rate.map { Quantities.shown(seconds: left / $0) } ?? "--:--"
    let rate = progress.rate.map { Quantities.shown(Int64($0)) + "/s" } ?? "-"
    let text =
      "fetchres: \(begun.version) \(percent)% \(Quantities.shown(progress.verified)) of "
      + "\(Quantities.shown(progress.total)), \(rate), \(eta) left"
    guard isTerminal else {
      try? Terminal.standardError.write(text + "\n")
      return
    }
    let columns = Terminal.columns(Terminal.standardError)
    try? Terminal.standardError.write("\r\u{1B}[K" + text.prefix(max(20, columns - 1)))
    lineIsOpen = true
  }

  private func closeLine() {
    guard lineIsOpen else { return }
    lineIsOpen = false
    try? Terminal.standardError.write("\n")
  }

  private func showJSON(_ event: FetchEvent) {
    switch event {
    case .manifest(let origin, let version, let release, let size, let blocks):
      var line = JSONLine("manifest")
      line.add("origin", origin)
      line.add("version", version)
      line.add("release", release)
      line.add("size", size)
      line.add("blocks", blocks)
      line.print()
    case .begin(let version, let size, let claimed):
      var line = JSONLine("begin")
      line.add("version", version)
      line.add("size", size)
      line.add("claimed", claimed)
      line.print()
    case .progress(let progress):
      var line = JSONLine("progress")
      line.add("total", progress.total)
      line.add("verified", progress.verified)
      line.add("resumed", progress.resumed)
      line.add("reused", progress.reused)
      line.add("rate", progress.rate.map { Int64($0) })
      line.add("sources", Int64(progress.sources))
      line.print()
    case .blockRejected(let failure, let wasOnDisk):
      var line = JSONLine("block-rejected")
      line.add(failure)
      line.add("wasOnDisk", wasOnDisk)
      line.print()
    case .sourceFailed(let failure):
      var line = JSONLine("source-failed")
      line.add(failure)
      line.print()
    case .sources(let sources):
      for source in sources {
        var line = JSONLine("source")
        line.add(source)
        line.print()
      }
    case .alert(let category, let message, let evidence):
      var line = JSONLine("alert")
      line.add("category", category.rawValue)
      line.add("message", message)
      line.add("evidence", evidence)
      line.print()
    case .unacknowledgedAlerts(let count, let origin):
      var line = JSONLine("alerts")
      line.add("origin", origin)
      line.add("unacknowledged", Int64(count))
      line.print()
    case .route(let text):
      var line = JSONLine("route")
      line.add("message", text)
      line.print()
    case .note(let text, let hint):
      var line = JSONLine("note")
      line.add("message", text)
      line.add("hint", hint)
      line.print()
    }
  }
}
