import Download
import Failure
import FetchResKit
import Testing

@testable import fetchres_cli

enum FetchFailureMade {
  static let blockMismatch = FetchFailure(.blockMismatch, "block 1 does not verify", block: 1)
}

@Suite struct ProgressBarTests {
  private static let mebi: Int64 = 1 << 20
  private static let plain = TerminalStyle(hasColor: false, isUnicode: true)

  /// Fetching at 4 MiB/s, 45 of 100 MiB, three blocks refused.
  private func fetching() -> ProgressState {
    var state = ProgressState()
    state.take(
      .manifest(
        origin: "maps.example.com/world", version: "2026.11.30", release: 1,
        size: 100 * Self.mebi, blocks: 100), now: 0)
    state.take(.begin(version: "2026.11.30", size: 100 * Self.mebi, claimed: 0), now: 0)
    let resumed = 5 * Self.mebi
    for second: Int64 in 0...10 {
      let verified: Int64 = resumed + second * 4 * Self.mebi
      state.take(
        .made(
          verified, of: 100 * Self.mebi, resumed: resumed, rate: 4.5 * 1_048_576, sources: 2),
        now: Double(second))
    }
    for _ in 0..<3 {
      state.take(.blockRejected(FetchFailureMade.blockMismatch, wasOnDisk: false), now: 10)
    }
    return state
  }

  private func draw(
    _ state: ProgressState, _ columns: Int, _ style: TerminalStyle = plain, now: Double = 10
  ) -> [String] {
    ProgressBar(style, columns: columns).lines(state, now: now).map(\.text)
  }

  @Test func `at 200 columns all is in one line`() {
    #expect(
      draw(fetching(), 200) == [
        "world 2026.11.30  " + String(repeating: "█", count: 27)
          + String(repeating: "░", count: 33)
          + "  45 %  45.0 MiB of 100 MiB  4.5 MiB/s now  4.0 MiB/s on average  0:14 left  "
          + "2 sources  3 blocks refused"
      ])
  }

  @Test func `at 80 columns the bar has a line of its own`() {
    #expect(
      draw(fetching(), 80) == [
        "world 2026.11.30  " + String(repeating: "█", count: 24) + "▊"
          + String(repeating: "░", count: 30) + "  45 %",
        "45.0 MiB of 100 MiB  4.5 MiB/s now  4.0 MiB/s on average  0:14 left  2 sources",
        "3 blocks refused",
      ])
  }

  @Test func `at 40 columns nothing is lost either`() {
    let lines = draw(fetching(), 40)
    #expect(lines[0] == "world 2026.11.…  ███████▏░░░░░░░░  45 %")
    #expect(
      Array(lines.dropFirst()) == [
        "45.0 MiB of 100 MiB  4.5 MiB/s now", "4.0 MiB/s on average  0:14 left",
        "2 sources  3 blocks refused",
      ])
  }

  @Test(
    "no line is wider than the terminal, whatever is shown",
    arguments: [1, 20, 21, 33, 40, 80, 81, 120, 200, 500])
  func width(_ columns: Int) {
    let map = BlockMap((0..<4_096).map { BlockMap.Cell.allCases[$0 % 5] })
    var odd = fetching()
    odd.take(
      .manifest(
        origin: "x.org/" + String(repeating: "n", count: 100),
        version: String(repeating: "v", count: 128), release: 1, size: 1, blocks: 1), now: 0)
    odd.take(.made(.max - 1, of: .max, rate: 1e300, sources: 1_000_000, wait: 1e9), now: 1e9)
    var waiting = ProgressState()
    waiting.take(.phase(.waiting(seconds: 100)), now: 0)
    for style in [Self.plain, .init(hasColor: true, isUnicode: false)] {
      for state in [fetching(), odd, waiting, ProgressState()] {
        let lines =
          ProgressBar(style, columns: columns).lines(state, now: 10)
          + BlockMapView(style, columns: columns).lines(map, rows: 10)
        for line in lines {
          #expect(line.columns < max(columns, 21), "\(line.text)")
          #expect(!line.text.contains("nan") && !line.text.contains("inf"))
        }
      }
    }
  }

  @Test func `columns are counted without colours`() {
    let colored = TerminalStyle(hasColor: true, isUnicode: true)
    let (one, other) = (
      ProgressBar(colored, columns: 80).lines(fetching(), now: 10),
      ProgressBar(Self.plain, columns: 80).lines(fetching(), now: 10)
    )
    #expect(one.map(\.columns) == other.map(\.columns))
    #expect(one[0].text.contains("\u{1B}[32m") && !other[0].text.contains("\u{1B}"))
    #expect(other.allSatisfy { $0.columns == $0.text.count })
  }

  @Test func `a terminal without Unicode gets a bar of signs`() {
    let lines = draw(fetching(), 80, TerminalStyle(hasColor: false, isUnicode: false))
    #expect(lines[0].contains("[#") && lines[0].contains("-]") && lines[0].hasSuffix("  45 %"))
    #expect(lines.allSatisfy { $0.utf8.count == $0.count })
  }

  @Test func `an unknown rate and an unknown end are said to be unknown`() {
    var state = ProgressState()
    state.take(.made(0, of: 10, sources: 0), now: 0)
    #expect(draw(state, 120).joined().contains("- now  - on average  --:-- left  0 sources"))
  }

  @Test(
    "a phase that does not fetch has a word",
    arguments: [
      (.phase(.checkingLog), "checking the log"),
      (.phase(.waiting(seconds: 75)), "waiting for a source, next attempt in 1:15"),
      (.phase(.startingTor(percent: 40)), "tor starting 40 %"),
      (.phase(.finishing), "finishing"),
      (.made(1, of: 9, sources: 0, unhashed: 5), "re-hashing what is on disk"),
    ] as [(FetchEvent, String)])
  func phases(_ event: FetchEvent, _ word: String) {
    var state = ProgressState()
    state.take(event, now: 10)
    #expect(draw(state, 80).contains { $0.contains(word) })
    var later = fetching()
    later.take(event, now: 10)
    #expect(draw(later, 200)[0].contains(word))
  }
}

@Suite struct BlockMapViewTests {
  private static let letters = TerminalStyle(hasColor: false, isUnicode: true)
  private static let halves = TerminalStyle(hasColor: true, isUnicode: true)
  private static let all: [BlockMap.Cell] = [
    .verified, .carriedOver, .inFlight, .refused, .missing,
  ]

  @Test func `without colours each cell is a letter`() {
    let lines = BlockMapView(Self.letters, columns: 80).lines(BlockMap(Self.all), rows: 10)
    #expect(
      lines.map(\.text) == [
        "#+>!.", "# verified  + carried over  > in flight  ! refused  . missing",
      ])
  }

  @Test func `with colours a line holds two rows`() {
    let cells = Array(repeating: BlockMap.Cell.verified, count: 79) + Self.all
    let lines = BlockMapView(Self.halves, columns: 80).lines(BlockMap(cells), rows: 10)
    #expect(lines.count == 2)
    #expect(lines[0].columns == 79)
    #expect(lines[0].text.hasPrefix("\u{1B}[32;42m▀\u{1B}[32;44m▀\u{1B}[32;43m▀\u{1B}[32;41m▀"))
    #expect(
      lines[0].text.hasSuffix("\u{1B}[32;49m" + String(repeating: "▀", count: 74) + "\u{1B}[0m"))
    #expect(lines[1].text.contains("\u{1B}[31m█\u{1B}[0m refused"))
  }

  @Test func `a map that is too large is made smaller, and what is worst in a cell shows`() {
    var cells = Array(repeating: BlockMap.Cell.verified, count: 4_096)
    cells[4_095] = .refused
    cells[0] = .missing
    let lines = BlockMapView(Self.letters, columns: 41).lines(BlockMap(cells), rows: 5)
    #expect(lines.count == 5)
    #expect(lines[0].text.hasPrefix(".###"))
    #expect(lines[2].text.hasSuffix("#!"))
  }

  @Test func `there are never more lines than there is room for`() {
    for rows in 1...12 {
      let map = BlockMap(Array(repeating: .missing, count: 4_096))
      for style in [Self.letters, Self.halves] {
        #expect(BlockMapView(style, columns: 40).lines(map, rows: rows).count <= rows)
      }
    }
    #expect(BlockMapView(Self.letters, columns: 40).lines(BlockMap([]), rows: 5).count == 2)
  }
}

@Suite struct DrawnLinesTests {
  @Test func `lines are drawn over, also when the terminal has become narrower`() {
    var drawn = DrawnLines()
    let lines = [TerminalLine("one"), TerminalLine(String(repeating: "x", count: 70))]
    #expect(drawn.draw(lines, width: 80).hasPrefix("one\u{1B}[K\r\nxxx"))
    #expect(drawn.draw(lines, width: 80).hasPrefix("\r\u{1B}[1Aone"))
    // The second line takes two rows now.
    #expect(drawn.draw([TerminalLine("two")], width: 40) == "\r\u{1B}[2Atwo\u{1B}[K\u{1B}[J")
    #expect(drawn.erase(width: 40) == "\r\u{1B}[J")
    #expect(drawn.erase(width: 40) == "")
  }

  @Test func `what somebody else has written after is left alone`() {
    var drawn = DrawnLines()
    #expect(drawn.forget() == "")
    _ = drawn.draw([TerminalLine("one"), TerminalLine("two")], width: 80)
    #expect(drawn.forget() == "\r\n")
    #expect(drawn.draw([TerminalLine("one")], width: 80).hasPrefix("one"))
  }
}

@Suite struct ProgressLogTests {
  @Test func `a line is due every tenth and every half minute`() {
    var log = ProgressLog()
    var state = ProgressState()
    var lines: [String] = []
    func show(_ verified: Int64, _ now: Double) {
      state.take(.made(verified, of: 1_000), now: now)
      if let line = log.line(state, now: now) { lines.append(line) }
    }
    #expect(log.line(state, now: 0) == nil)
    for (verified, now) in [
      (0, 0.0), (50, 1), (99, 2), (100, 3), (150, 20), (160, 33), (1_000, 34),
    ] {
      show(Int64(verified), now)
    }
    #expect(lines.map { $0.split(separator: " ")[0] } == ["0", "10", "16", "100"])
    #expect(lines.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\r") })
  }
}

@Suite struct TerminalStyleTests {
  @Test(
    "colours and signs are used where the environment allows it",
    arguments: [
      ([:], true, false), (["LANG": "C.UTF-8"], true, true),
      (["LC_ALL": "C", "LANG": "de_DE.UTF-8"], true, false), (["NO_COLOR": "1"], false, false),
      (["NO_COLOR": ""], true, false), (["LC_CTYPE": "en_GB.utf8", "NO_COLOR": "x"], false, true),
    ] as [([String: String], Bool, Bool)])
  func environment(_ environment: [String: String], _ color: Bool, _ unicode: Bool) {
    #expect(
      TerminalStyle { environment[$0] } == TerminalStyle(hasColor: color, isUnicode: unicode))
  }

  @Test(
    arguments: [(nil, false), ("", false), ("dumb", false), ("xterm", true)] as [(String?, Bool)])
  func terms(_ term: String?, _ canDraw: Bool) {
    #expect(TerminalStyle.canDraw(term: term) == canDraw)
  }
}
