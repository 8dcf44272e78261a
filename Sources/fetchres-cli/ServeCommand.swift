import Failure
import FaultOrigin
import System

/// `fetchres serve`.
enum ServeCommand {
  static let spec = CommandSpec(
    name: "serve",
    example: "fetchres serve site --listen 127.0.0.1:8000",
    operands: "SITE [option…]",
    summary: "Serve a site for trying things out and for tests. It is no production server.",
    options: [
      OptionSpec(
        "--listen", "ADDR:PORT", repeats: true, standard: "127.0.0.1:8000",
        "port 0 picks a free one; given again for more mirrors"),
      OptionSpec("--faults", "PLAN", repeats: true, "do wrong what this file says"),
      OptionSpec("--fault", "RULE", repeats: true, "do this wrong, as 'F04 on data every 5'"),
      OptionSpec("--seed", "N", "for what goes by chance; the same seed does the same"),
      OptionSpec("--fault-log", "FILE", "write a line of JSON there for every fault"),
      OptionSpec("--list-faults", "print the faults, and what a rule may say of them"),
    ],
    notes: """
      The first line on standard output is the URL of the manifest, once it listens; more ports
      have a line each. A rule is: FAULT [name=value]… [on TARGET,…] [chance N%] [every N]
      [first N] [after N requests|after SIZE bytes]; targets are
      \(FaultTarget.words).
      A plan holds rules, 'latency 20ms', 'rate 512K' and 'port N', a line each.
      """,
    operandCount: 0...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    if arguments.has("--list-faults") {
      Output.line(Fault.list)
      return 0
    }
    guard let site = arguments.operands.first else {
      throw FetchFailure(
        .usage, "serve takes SITE", hint: "usage: fetchres serve \(spec.operands)")
    }
    let given = arguments.all("--listen")
    var settings = FaultServer.Settings(listen: given.isEmpty ? ["127.0.0.1:8000"] : given)
    let isFaulty = arguments.has("--faults") || arguments.has("--fault")
    settings.plan = try plan(arguments)
    settings.seed =
      try arguments.parse("--seed", "number", Quantities.seed) ?? .random(in: 0..<1 << 32)
    let log: FaultLog?
    if let path = arguments.value("--fault-log") { log = try FaultLog(path) } else { log = nil }

    // The signals first: the threads of the server must not be the ones to get them.
    let state = Monitor(State())
    _ = Signals { signal in
      let server = state.change { state in
        state.signal = signal
        return state.server
      }
      server?.stop()
    }
    let server = try FaultServer(site: site, settings) { event in
      if case .fault(let record) = event { log?.add(record) }
    }
    let early = state.change { state in
      state.server = server
      return state.signal
    }
    if let early { return 128 + early }
    Output.write(server.manifestURLs.map { $0 + "\n" }.joined())
    Talk.note(
      "this is no production server: nginx, a CDN or an object store is; ctrl-C ends it")
    if isFaulty { Talk.note("faults follow from --seed \(settings.seed)") }
    server.run()
    return state.look { $0.signal }.map { 128 + $0 } ?? 0
  }

  /// All plans and rules of a command line, in one.
  static func plan(_ arguments: ParsedArguments) throws(FetchFailure) -> FaultPlan {
    var plan = FaultPlan()
    for file in arguments.all("--faults") { plan.append(try FaultPlan(file: file)) }
    for rule in arguments.all("--fault") {
      plan.append(try FaultPlan(rule, name: "--fault"))
    }
    return plan
  }

  private struct State: Sendable {
    var server: FaultServer?
    var signal: Int32?
  }
}
