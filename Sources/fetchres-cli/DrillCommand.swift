import Failure
import FaultOrigin
import System

/// `fetchres drill`.
enum DrillCommand {
  static let spec = CommandSpec(
    name: "drill",
    example: "fetchres drill --runs 20 --kill --tamper",
    operands: "[SITE | --size N] [option…]",
    summary: "Pull again and again from an origin that does everything wrong, and check each time.",
    options: [
      OptionSpec("--size", "SIZE", "the resource to make for it; default 2M"),
      OptionSpec("--plan", "PLAN", repeats: true, "use these plans in turn; default: drawn ones"),
      OptionSpec("--runs", "N", "default 20"),
      OptionSpec("--seed", "N", "what is drawn follows from it; default: another one each time"),
      OptionSpec("--kill", "kill pulls at random moments and run them again"),
      OptionSpec("--tamper", "spoil what a pull left behind before the next one"),
      OptionSpec("--jobs", "N", "so many runs at a time; default four for each processor"),
      OptionSpec("--report", "FILE", "write what was found there, as JSON"),
      OptionSpec("--html", "FILE", "write it there as one page, with a timeline of failing runs"),
    ],
    notes: """
      Exits with 0 only if in no run anything wrong became available, nothing unverified was
      written, no bound was exceeded, no secret was told, and an honest origin was always enough.
      Plans are those of 'fetchres serve --faults'; faults that serve other files need no 'from='
      where the resource is made for the drill.
      """,
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let interruption = Interruption()
    _ = Signals { interruption.raise($0) }
    let settings = try settings(arguments)
    for file in [arguments.value("--report"), arguments.value("--html")] {
      if let file { try write("", to: file) }
    }
    Talk.note("drill: seed \(settings.seed)")
    let progress = DrillProgress(runs: settings.runs)
    let report = try Drill(settings, interruption: interruption) { progress.show($0) }.run()
    progress.end()
    if let file = arguments.value("--report") { try write(report.json.text + "\n", to: file) }
    if let file = arguments.value("--html") { try write(report.html, to: file) }
    Output.line(report.text)
    try interruption.check()
    return report.violations == 0 ? 0 : 1
  }

  private static func settings(_ arguments: ParsedArguments) throws(FetchFailure) -> DrillSettings {
    let size = try arguments.parse("--size", "size", Quantities.size)
    let resource: DrillSettings.Resource
    switch (arguments.operands.first, size) {
    case (let site?, nil): resource = .site(site)
    case (nil, let size): resource = .made(size: size ?? 2 << 20)
    case (.some, .some):
      throw FetchFailure(.usage, "drill takes SITE or --size, not both")
    }
    guard let executable = ThisProcess.executable else {
      throw FetchFailure(.unavailable, "cannot find out which program runs here")
    }
    var settings = DrillSettings(resource, executable: executable, scratch: scratch())
    settings.runs = try arguments.parse("--runs", "number", Quantities.count) ?? settings.runs
    settings.seed =
      try arguments.parse("--seed", "number", Quantities.seed) ?? .random(in: 0..<1 << 32)
    if let jobs = try arguments.parse("--jobs", "number", Quantities.count) {
      guard jobs > 0 else { throw FetchFailure(.usage, "--jobs has to be at least 1") }
      settings.jobs = min(jobs, 64)
    }
    settings.kills = arguments.has("--kill")
    settings.tampers = arguments.has("--tamper")
    for file in arguments.all("--plan") {
      settings.plans.append(.init(name: file, plan: try FaultPlan(file: file)))
    }
    return settings
  }

  /// In memory where that can be: nothing of a drill has to outlive it.
  private static func scratch() -> String {
    func variable(_ name: String) -> String? {
      ThisProcess.environment(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    let memory = (try? Descriptor.open("/dev/shm", Descriptor.directory)) != nil
    let parent = variable("TMPDIR") ?? (memory ? "/dev/shm" : "/tmp")
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    return Path.join(parent, "fetchres-drill-\(name)")
  }

  private static func write(_ text: String, to path: String) throws(FetchFailure) {
    try doing("cannot write \(path)") { () throws(SystemError) in
      let flags = Descriptor.writeOnly | Descriptor.create | Descriptor.truncating
      try Descriptor.open(path, flags, permissions: 0o666).write(text)
    }
  }
}

/// One line that is written over on a terminal, and a line now and then elsewhere.
private final class DrillProgress: Sendable {
  private let runs: Int
  private let isTerminal = Terminal.isTerminal(Terminal.standardError)
  private let last = Monitor(0)

  init(runs: Int) { self.runs = runs }

  func show(_ report: DrillReport) {
    let text = "drill: \(report.runs) of \(runs) runs, \(report.violations) violations"
    if isTerminal {
      last.look { _ in try? Terminal.standardError.write("\r\u{1b}[K\(text)") }
    } else if last.change({ last in
      let isDue = report.runs >= last + max(1, runs / 10)
      if isDue { last = report.runs }
      return isDue
    }) {
      Talk.note(text)
    }
  }

  func end() { if isTerminal { try? Terminal.standardError.write("\r\u{1b}[K") } }
}
