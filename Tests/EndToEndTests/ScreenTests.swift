import System
import Testing

/// Pulls in a real terminal.
@Suite(.enabled(if: Command.path(of: "tmux") != nil, "tmux is not installed"))
struct ScreenTests {
  /// A pull that stands at 60 %, in a terminal.
  private func begin(
    _ bench: Workbench, columns: Int, _ more: String..., before: String = ""
  ) throws -> Screen {
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let screen = try Screen(bench.scratch, columns: columns)
    let end = Int64(48 * Site.blockSize)
    try bench.origin().bendData(of: release) { request, response in
      guard let range = request.range, range.upperBound > end else { return }
      response.limit = max(0, end - range.lowerBound)
      response.ending = range.lowerBound < end ? .close : .hold
    }
    var words = bench.fetchres.environment
    words["NO_COLOR"] = ""
    let script = bench.scratch("pull.sh")
    let quoted = ([Fetchres.binary] + bench.pulling(more)).map { "'\($0)'" }
    let setting = words.sorted { $0.key < $1.key }.map { "\($0.key)='\($0.value)'" }
    try Disk.write(
      script,
      // The interrupt is for the pull; what runs it says how that ended.
      Array(
        "trap : INT\n\(before)\nenv \(setting.joined(separator: " ")) \(quoted.joined(separator: " "))\necho end=$?\n"
          .utf8))
    try screen.enter("sh \(script)")
    return screen
  }

  @Test("the bar says how far it is, follows the size, and leaves the terminal as it was")
  func bar() throws {
    let bench = try Workbench()
    let screen = try begin(bench, columns: 80)
    try screen.wait { $0.contains { $0.hasPrefix("thing v1  █") && $0.hasSuffix("  60 %") } }
    try screen.wait { $0.contains { $0.hasPrefix("3.0 MiB of 5.0 MiB  ") } }
    let bars = try screen.lines().filter { $0.hasPrefix("thing v1") }
    #expect(bars.count == 1)

    for columns in [40, 120, 200, 60] {
      try screen.resize(columns: columns)
      try screen.wait { lines in
        lines.contains { $0.hasPrefix("thing v1  █") && $0.contains("  60 %") }
          && lines.filter { $0.contains("3.0 MiB of") }.count == 1
          && lines.allSatisfy { $0.count <= columns }
      }
    }

    try screen.key("C-c")
    try screen.wait { $0.contains("end=130") }
    let lines = try screen.lines()
    #expect(!lines.contains { $0.contains("█") || $0.contains("60 %") }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("error: interrupted") })
    // What is typed is shown again.
    try screen.enter("stty -a | grep -c ' echo '")
    try screen.wait { $0.contains { $0.contains("grep -c ' echo '") } && $0.contains("1") }
  }

  @Test("the key m shows the map and takes it away again")
  func map() throws {
    let bench = try Workbench()
    let screen = try begin(bench, columns: 80)
    try screen.wait { $0.contains { $0.hasSuffix("  60 %") } }
    #expect(try !screen.lines().contains { $0.contains("carried over") })
    try screen.key("m")
    try screen.wait { lines in
      lines.contains { $0.hasPrefix("▀▀▀▀") } && lines.contains { $0.contains("█ in flight") }
    }
    try screen.key("m")
    try screen.wait { lines in
      !lines.contains { $0.contains("▀") } && lines.contains { $0.hasSuffix("  60 %") }
    }
    // The keys are not shown.
    #expect(try !screen.lines().contains { $0 == "m" || $0 == "mm" })
    try bench.origin().bend(nil)
    try screen.key("C-c")
    try screen.wait { $0.contains("end=130") }
  }

  @Test("a pull that is stopped gives the terminal back, and goes on where it was")
  func stop() throws {
    let bench = try Workbench()
    let screen = try begin(bench, columns: 100, "--map", before: "set -m")
    try screen.wait { $0.contains { $0.contains("█ in flight") } }
    try screen.key("C-z")
    // The script goes on when its command is stopped.
    try screen.wait { $0.contains { $0.hasPrefix("end=") } }
    try screen.enter("stty -a | grep -c ' icanon '")
    try screen.wait { $0.contains { $0.contains("' icanon '") } && $0.contains("1") }
  }

  @Test("a terminal that can nothing gets a log", arguments: ["dumb", ""])
  func dumb(_ term: String) throws {
    let bench = try Workbench()
    let screen = try begin(bench, columns: 80, before: "export TERM='\(term)'")
    #expect(try bench.origin().waitForHeld(1))
    try screen.key("C-c")
    try screen.wait { $0.contains("end=130") }
    #expect(try !screen.lines().contains { $0.contains(" %") || $0.contains("█") })
  }
}
