import System
import Testing

/// A terminal of its own size, in a real emulator. Gone when the last reference goes.
final class Screen: Sendable {
  private let tmux: String
  private let socket: String
  private let scratch: Scratch

  init(_ scratch: Scratch, columns: Int, rows: Int = 24) throws {
    tmux = try #require(Command.path(of: "tmux"), "tmux is not installed")
    self.scratch = scratch
    socket = scratch("tmux")
    try run([
      "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "env",
      "PS1=\\$ ",
      "sh",
    ])
  }

  deinit { _ = try? run(["kill-server"]) }

  @discardableResult
  private func run(_ arguments: [String]) throws -> Outcome {
    try Outcome(
      of: try Child(
        tmux, ["-S", socket] + arguments,
        environment: [
          "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
          "HOME": scratch.path,
        ], directory: scratch.path))
  }

  /// Types the text, and return.
  func enter(_ text: String) throws {
    try run(["send-keys", "-l", text])
    try run(["send-keys", "Enter"])
  }

  /// Types one key, as tmux calls it.
  func key(_ name: String) throws { try run(["send-keys", name]) }

  func resize(columns: Int, rows: Int = 24) throws {
    try run(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  /// Forgets what is on the screen.
  func reset() throws { try run(["send-keys", "-R"]) }

  /// What the screen shows, without empty lines at its end.
  func lines() throws -> [String] {
    let text = try run(["capture-pane", "-p"]).output
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  /// Waits until the screen is as wanted.
  func wait(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: ([String]) -> Bool
  ) throws {
    let isThere = waitUntil { condition((try? lines()) ?? []) }
    try #require(
      isThere, "\((try? lines())?.joined(separator: "\n") ?? "")", sourceLocation: sourceLocation)
  }
}
