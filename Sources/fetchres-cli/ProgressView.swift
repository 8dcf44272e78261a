import Failure
import FetchResKit
import System

/// Shows a pull: drawn on a terminal, as sentences in a log, as JSON, or not at all.
final class ProgressView {
  private enum Mode {
    case json
    case quiet
    case drawn(ProgressScreen)
    /// Only what has begun, has ended or went wrong; with lines of progress if they are wanted.
    case log(ProgressLog?)
  }

  private var mode: Mode
  private let isVerbose: Bool
  /// Standard output is the file itself then.
  private let streamsFile: Bool
  private let start = Clocks.monotonic()
  private var state = ProgressState()
  /// Alerts are said at the end, where they are not scrolled away.
  private var alerts: [String] = []
  private var reminder: String?

  init(_ arguments: ParsedArguments) throws(FetchFailure) {
    let modes = ["--json", "--quiet", "--verbose", "--progress"].filter { arguments.has($0) }
    guard modes.count <= 1 else {
      throw FetchFailure(.usage, "\(modes[0]) and \(modes[1]) exclude each other")
    }
    isVerbose = arguments.has("--verbose")
    streamsFile = arguments.value("-o") == "-"
    if arguments.has("--json") {
      mode = .json
    } else if arguments.has("--quiet") {
      mode = .quiet
    } else if Terminal.isTerminal(Terminal.standardError),
      TerminalStyle.canDraw(term: ThisProcess.environment("TERM"))
    {
      mode = .drawn(ProgressScreen(.here, showsMap: arguments.has("--map")))
    } else {
      mode = .log(arguments.has("--progress") ? ProgressLog() : nil)
    }
  }

  /// Whether events of progress should have a map of the blocks.
  var mapIsWanted: Bool {
    if case .drawn(let screen) = mode { screen.showsMap } else { false }
  }

  func show(_ event: FetchEvent) {
    keep(event)
    switch mode {
    case .json: PullEvents.line(event).forEach { $0.print() }
    case .quiet: break
    case .drawn(let screen):
      screen.take(event)
      showSentences(event)
    case .log(var log?):
      if case .progress = event, let line = log.line(state, now: Clocks.monotonic()) { say(line) }
      mode = .log(log)
      showSentences(event)
    case .log(nil): showSentences(event)
    }
  }

  func complete(_ result: PullResult) {
    end()
    switch mode {
    case .json:
      PullEvents.complete(result, carriedOver: state.carriedOver).print()
    case .quiet:
      if !streamsFile { Output.line(result.path) }
    case .drawn, .log:
      sayAlerts(but: nil)
      Talk.note(summary(result))
      if !streamsFile { Output.line(result.path) }
    }
  }

  func fail(_ failure: FetchFailure) {
    end()
    switch mode {
    case .json: PullEvents.failed(failure).print()
    case .quiet: break
    case .drawn, .log: sayAlerts(but: failure.message)
    }
    var failure = failure
    if failure.exitCode == 3, failure.hint == nil {
      failure.hint = "run the same command again later: it goes on where it stopped"
    }
    Talk.error(failure)
  }

  /// Puts the terminal back.
  private func end() {
    if case .drawn(let screen) = mode { screen.end() }
  }

  private func summary(_ result: PullResult) -> String {
    var text =
      "\(result.origin) \(result.version) is complete: \(Quantities.shown(result.size)), "
      + "\(Quantities.shown(result.fetched)) fetched"
    let time = Clocks.monotonic() - start
    if result.fetched > 0, time > 0 {
      text +=
        " in \(Quantities.shown(seconds: time)) "
        + "(\(ProgressBar.shown(rate: Double(result.fetched) / time)))"
    }
    if state.carriedOver > 0 { text += ", \(Quantities.shown(state.carriedOver)) carried over" }
    return text
  }

  private func sayAlerts(but message: String?) {
    for alert in alerts where alert != message { Talk.warning(alert) }
    if let reminder { Talk.warning(reminder) }
  }

  private func keep(_ event: FetchEvent) {
    state.take(event, now: Clocks.monotonic())
    switch event {
    case .alert(_, let message, _): alerts.append(message)
    case .unacknowledgedAlerts(let count, let origin):
      reminder =
        "\(Quantities.counted(Int64(count), "alert")) about \(origin) "
        + "\(count == 1 ? "is" : "are") not acknowledged: 'fetchres integrity' says more"
    case .manifest, .begin, .progress, .phase, .blockRejected, .sourceFailed, .sources, .route,
      .note, .complete:
      break
    }
  }

  private func showSentences(_ event: FetchEvent) {
    switch event {
    case .manifest(let origin, let version, let release, let size, let blocks):
      guard isVerbose else { return }
      say("\(origin) \(version) is release \(release): \(size) bytes in \(blocks) blocks")
    case .begin(let version, let size, let claimed):
      say(
        "fetching \(version), \(Quantities.shown(size))"
          + (claimed > 0 ? ", of which \(Quantities.shown(claimed)) may be on disk" : ""))
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
    case .route(let text):
      if isVerbose { say(text) }
    case .phase(let phase):
      guard isVerbose, case .startingTor = phase else { return }
      if let words = ProgressBar.words(state.phase, now: 0) { say(words) }
    case .progress, .alert, .unacknowledgedAlerts, .complete: break
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
    guard case .drawn(let screen) = mode else { return Talk.note(text) }
    screen.say { Talk.note(text) }
  }
}
