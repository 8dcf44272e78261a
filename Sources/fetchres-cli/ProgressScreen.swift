import Download
import FetchResKit
import System

/// A pull on a terminal: progress that is drawn over at the end of what is said, and the key `m` for the
/// map of the blocks. Events come from one thread, the drawing is done by another.
final class ProgressScreen: Sendable {
  private struct State: Sendable {
    var progress = ProgressState()
    var showsMap: Bool
    /// Whether there is anything to draw yet.
    var hasBegun = false
    var isOver = false
  }

  private let style: TerminalStyle
  private let state: Monitor<State>
  /// Guards what is on the terminal. Apart from the state, so that a terminal that stands still holds
  /// up nothing but the drawing.
  private let drawn = Monitor(DrawnLines())
  private let thread = Monitor<WorkThread?>(nil)

  private static let interval: Int32 = 100
  private static let mapRows = 12

  init(_ style: TerminalStyle, showsMap: Bool) {
    self.style = style
    state = Monitor(State(showsMap: showsMap))
  }

  var showsMap: Bool { state.look { $0.showsMap } }

  func take(_ event: FetchEvent) {
    let begins = state.look { state in
      state.progress.take(event, now: Clocks.monotonic())
      guard case .phase = event, !state.hasBegun else { return false }
      state.hasBegun = true
      return true
    }
    if begins {
      thread.look { thread in thread = WorkThread("screen") { [self] in watch() } }
    }
  }

  /// Says something above what is drawn.
  func say(_ body: () -> Void) {
    drawn.look { drawn in
      leave(&drawn)
      body()
    }
    if state.look({ $0.hasBegun && !$0.isOver }) { draw() }
  }

  /// Removes what is drawn, and puts the terminal back.
  func end() {
    state.change { $0.isOver = true }
    thread.look { thread in
      thread?.join()
      thread = nil
    }
    TerminalKeys.end()
    drawn.look { drawn in leave(&drawn) }
  }

  /// Makes room for what is said. In the background the lines on the terminal are somebody else's.
  private func leave(_ drawn: inout DrawnLines) {
    let terminal = Terminal.standardError
    write(
      Terminal.isInBackground(terminal)
        ? drawn.forget() : drawn.erase(width: Terminal.columns(terminal)))
  }

  private func watch() {
    var keys = TerminalKeys()
    while !state.look({ $0.isOver }) {
      draw()
      if keys.next(within: Self.interval) == UInt8(ascii: "m") {
        state.look { $0.showsMap.toggle() }
      }
    }
  }

  private func draw() {
    guard !Terminal.isInBackground(Terminal.standardError) else { return }
    let (progress, showsMap) = state.look { ($0.progress, $0.showsMap) }
    let columns = Terminal.columns(Terminal.standardError)
    let rows = Terminal.rows(Terminal.standardError)
    var lines = ProgressBar(style, columns: columns).lines(progress, now: Clocks.monotonic())
    // Lines that have left the screen cannot be drawn over.
    lines = Array(lines.prefix(max(1, rows - 1)))
    if showsMap, let map = progress.map, rows - 1 > lines.count {
      lines += BlockMapView(style, columns: columns)
        .lines(map, rows: min(Self.mapRows, rows - 1 - lines.count))
    }
    drawn.look { drawn in
      let start = TerminalKeys.wasStopped() ? drawn.forget() : ""
      write(start + drawn.draw(lines, width: columns))
    }
  }

  private func write(_ text: String) { try? Terminal.standardError.write(text) }
}
