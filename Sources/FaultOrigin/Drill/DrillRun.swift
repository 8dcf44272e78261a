import Failure
import System

/// One run: an origin that does wrong, pulls that are killed and whose work is spoilt, and at the end
/// an origin that does everything right. After each pull the checker looks at what is there.
struct DrillRun {
  let settings: DrillSettings
  let index: Int
  let site: DrillSite
  let directory: String
  let interruption: Interruption

  let seed: UInt64
  var draw: Draw
  let secrets: Secrets
  let traffic: StepTraffic
  var checker: Checker
  var record: RunRecord
  var hasHonestMirror = false
  private var start = Clocks.monotonic()

  /// - Parameter directory: one of its own, which does not exist yet.
  init(
    _ settings: DrillSettings, index: Int, seed: UInt64, site: DrillSite, draw: Draw,
    directory: String, interruption: Interruption
  ) {
    self.settings = settings
    self.index = index
    self.seed = seed
    self.site = site
    self.draw = draw
    self.directory = directory
    self.interruption = interruption
    secrets = Secrets(&self.draw)
    traffic = StepTraffic(secrets)
    checker = Checker(directory: Path.join(directory, "pulled"), site: site)
    record = RunRecord(index: index, seed: seed)
  }

  /// - Throws: what keeps the drill itself from working.
  mutating func run() throws(FetchFailure) -> RunRecord {
    let plan = try makePlan()
    hasHonestMirror = plan.hasHonestMirror
    try doing("cannot make \(directory)") { () throws(SystemError) in
      try PlainDisk.makeDirectory(directory)
      try PlainDisk.write(
        Path.join(directory, "header"), Array("Authorization: Bearer \(secrets.header)\n".utf8),
        permissions: 0o600)
    }
    defer { PlainDisk.remove(directory) }
    var serving = FaultServer.Settings(listen: ["127.0.0.1:0"])
    serving.plan = plan
    serving.seed = seed
    serving.isWatched = true
    let traffic = traffic
    let server = try FaultServer(site: site.path, serving) { traffic.hear($0) }
    defer { server.stop() }

    let pulls = numberOfPulls(plan)
    for _ in 1...pulls {
      guard interruption.signal == nil else { return record }
      let kill = settings.kills && draw.chance(0.7) ? Kill(&draw, size: site.newest.size) : nil
      try pullAndJudge(server, kill, isHonest: false)
      if settings.tampers, draw.chance(0.7) { tamper() }
      if checker.isComplete, draw.chance(0.5) { break }
    }
    // Whatever happened, an honest origin is enough now.
    server.change(plan.honest)
    record.note(elapsed, "the origin does everything right from now on")
    guard interruption.signal == nil else { return record }
    try pullAndJudge(server, nil, isHonest: true)
    record.seconds = elapsed
    return record
  }

  var elapsed: Double { Clocks.monotonic() - start }

  /// How many pulls there are at most while the origin does wrong. A plan that somebody wrote may tell
  /// a long story; one that does the same for ever, or was drawn, has said all it can soon.
  private mutating func numberOfPulls(_ plan: FaultPlan) -> Int64 {
    if plan.tellsAStory, !settings.plans.isEmpty { return 8 }
    return draw.number(1...(settings.kills || settings.tampers ? 4 : 2))
  }

  private mutating func makePlan() throws(FetchFailure) -> FaultPlan {
    guard settings.plans.isEmpty else {
      let named = settings.plans[index % settings.plans.count]
      record.plan = named.plan.rules.map(\.text)
      record.note(0, "plan \(named.name)")
      return named.plan.completed(with: site.alternatives)
    }
    let text = DrawnPlan.text(
      &draw, size: site.newest.size, alternatives: site.alternatives)
    record.plan = text.split(separator: "\n").map(String.init)
    return try FaultPlan(text, name: "drawn plan")
  }

  // MARK: Pulling

  private mutating func pullAndJudge(
    _ server: FaultServer, _ kill: Kill?, isHonest: Bool
  ) throws(FetchFailure) {
    let step = try pull(server, kill, .short)
    guard step.ending == .exited(3), !rightExits(step).contains(3) else {
      return judge(step, isHonest: isHonest)
    }
    // Nothing that the origin did explains that the time was over: the machine has other work. Whoever
    // is really stuck will not get on with more of it either.
    judge(step, isHonest: nil)
    record.repeated += 1
    judge(try pull(server, nil, .long), isHonest: isHonest)
  }

  private mutating func pull(
    _ server: FaultServer, _ kill: Kill?, _ patience: DrillPatience
  ) throws(FetchFailure) -> DrillStep {
    var arguments = ["pull", url(server), "--key", site.key, "-d", checker.directory]
    arguments += ["--state-dir", Path.join(directory, "state")]
    arguments +=
      [
        "--retry-now", "--header", "@" + Path.join(directory, "header"),
        // Work on an older version that a source showed is not what a run is judged by.
        "--on-new-version", "switch",
      ] + patience.arguments
    if draw.chance(0.3) { arguments.append("--verbose") }
    if draw.chance(0.3) { arguments += ["--connections", "\(draw.number(1...16))"] }
    for mirror in server.manifestURLs.dropFirst() {
      arguments += ["--mirror", String(mirror.dropLast("manifest".count))]
    }
    _ = traffic.take()
    let began = Clocks.monotonic()
    let child = try doing("cannot start \(settings.executable)") { () throws(SystemError) in
      try ChildProcess(
        settings.executable, arguments, environment: DrillEnvironment.variables(directory))
    }
    let rate = server.slowest
    let limit = began + patience.limit(size: site.newest.size, rate: rate)
    var isKilled = false
    var hangs = false
    var end: ChildProcess.End?
    while end == nil {
      end = child.wait(within: kill == nil || isKilled ? 0.05 : 0.002)
      if end != nil { break }
      let now = Clocks.monotonic()
      if let kill, !isKilled, now - began >= kill.seconds || traffic.bytes >= kill.bytes {
        child.send(ChildProcess.kill)
        isKilled = true
      }
      if now >= limit, !hangs {
        hangs = true
        child.send(ChildProcess.kill)
      }
      if interruption.signal != nil { child.send(ChildProcess.kill) }
    }
    let ending: DrillStep.Ending =
      switch end?.ending {
      case _ where hangs: .hung
      case .exited(let code)?: .exited(code)
      case .killed(ChildProcess.kill)?: .killed
      case .killed(let signal)?: .crashed(signal)
      case nil: .hung
      }
    return DrillStep(
      ending: ending, seconds: Clocks.monotonic() - began, peakMemory: end?.peakMemory ?? 0,
      output: child.output, error: child.error, traffic: traffic.take())
  }

  /// The URL of the manifest, with secrets in it.
  private mutating func url(_ server: FaultServer) -> String {
    var url = server.manifestURLs.first ?? ""
    if draw.chance(0.3) {
      url = "http://drill:\(secrets.password)@" + url.dropFirst("http://".count)
    }
    return draw.chance(0.5) ? url + "?token=" + secrets.query : url
  }

  private mutating func tamper() {
    if let what = Tampering.tamper(&checker, &draw) {
      record.tamperings += 1
      record.note(elapsed, what)
    }
  }
}
