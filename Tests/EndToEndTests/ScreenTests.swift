import System
import Testing

/// Pulls in a real terminal.
@Suite(.enabled(if: Command.path(of: "tmux") != nil, "tmux is not installed"))
struct ScreenTests {
  /// A pull that stands at 60 %, in a terminal.
  private func begin(
    _ bench: Workbench, columns: Int, _ more: String..., before: String = "", behind: String = ""
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
    // Long enough for a busy machine: the pull stands as long as the test looks.
    let patient = ["--first-byte-timeout", "300", "--stall", "1K/300s"]
    let quoted = ([Fetchres.binary] + bench.pulling(patient + more)).map { "'\($0)'" }
    let setting = words.sorted { $0.key < $1.key }.map { "\($0.key)='\($0.value)'" }
    try Disk.write(
      script,
      // The interrupt is for the pull; what runs it says how that ended.
      Array(
        "trap : INT\n\(before)\nenv \(setting.joined(separator: " ")) \(quoted.joined(separator: " "))\(behind)\necho end=$?\n"
          .utf8))
    try screen.enter("sh \(script)")
    return screen
  }

  /// Whether there is one bar, and it fits.
  private func isBar(_ lines: [String], within columns: Int) -> Bool {
    lines.contains { $0.hasPrefix("thing v1  █") && $0.contains("  60 %") }
      && lines.count { $0.contains("3.0 MiB of") } == 1
      && lines.allSatisfy { $0.count <= columns }
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
      // What is drawn at the very moment in which the size changes stays there; not each time.
      let isRight = try (0..<5).contains { _ in
        try screen.resize(columns: columns)
        let isRight = waitUntil(within: 10) { isBar((try? screen.lines()) ?? [], within: columns) }
        if !isRight { try screen.reset() }
        return isRight
      }
      let shown = try screen.lines()
      #expect(isRight, "\(columns) columns: \(shown)")
    }

    try screen.key("C-c")
    try screen.wait { $0.contains("end=130") }
    let lines = try screen.lines()
    #expect(!lines.contains { $0.contains("█") || $0.contains("60 %") }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("error: interrupted") })
    // What is typed is shown again.
    try screen.enter("stty -a | grep -c ' echo '")
    try screen.wait { $0.contains { $0 == "1" || $0 == "$ 1" } }
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
    // The answer may stand behind a prompt that came late.
    try screen.wait { $0.contains { $0 == "1" || $0 == "$ 1" } }
  }

  @Test("a pull in the background leaves the terminal to who has it, and draws when it gets it")
  func background() throws {
    let bench = try Workbench()
    let screen = try begin(bench, columns: 100, before: "set -m", behind: " & read answer; fg")
    try screen.wait { $0.contains { $0.hasPrefix("fetchres: fetching v1") } }
    #expect(try bench.origin().waitForHeld(1))
    #expect(try !screen.lines().contains { $0.contains("█") || $0.contains(" %") })
    try screen.enter("")
    try screen.wait { $0.contains { $0.hasPrefix("thing v1  █") && $0.contains("  60 %") } }
    try screen.key("C-c")
    try screen.wait { $0.contains { $0.contains("error: interrupted") } }
  }

  @Test("a question for a password gives the terminal back when it is stopped, and asks again")
  func stoppedQuestion() throws {
    let scratch = try Scratch()
    let fetchres = Fetchres(scratch)
    let password = try scratch.write("password", Array("geheim\n".utf8))
    try scratch.write("input", [1])
    try fetchres.run(
      "keygen", "example.org/thing", "--out", scratch("key"), "--password-file", password
    ).expect(0)
    let screen = try Screen(scratch, columns: 200)
    func questions(_ lines: [String]) -> Int {
      lines.count { $0.contains("password of the secret key") }
    }
    try screen.enter(
      "HOME=\(scratch.path) \(Fetchres.binary) publish input --site site --version 1 --key key; "
        + "echo end=$?")
    for count in 1...3 {
      try screen.wait { questions($0) == count }
      try screen.key("C-z")
      try screen.wait { $0.count { $0.contains("Stopped") } == count }
      try screen.enter("stty -a | grep -c ' echo '")
      try screen.wait { $0.count { $0 == "1" || $0 == "$ 1" } == count }
      try screen.enter("fg; echo over=$?")
    }
    try screen.wait { questions($0) == 4 }
    try screen.enter("geheim")
    try screen.wait { $0.contains("over=0") }
    let lines = try screen.lines()
    #expect(!lines.contains { $0.contains("geheim") }, "\(lines)")
    #expect(Disk.exists(scratch("site/manifest")))
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
