import Failure
import FetchResKit
import SignedNote
import Storage
import System

/// `fetchres pull`.
enum PullCommand {
  static let spec = CommandSpec(
    name: "pull",
    example: "fetchres pull https://maps.example.com/world/manifest --key @world.pub",
    operands: "URL [option…]",
    summary: "Fetch the newest version of a resource, or go on where an earlier run stopped.",
    options: [
      OptionSpec("-d", "DIR", "where it lives; default: last component of the origin"),
      OptionSpec("-o", "FILE", "put a copy there; - streams it to standard output"),
      OptionSpec("--key", "VKEY", repeats: true, "public key to trust; @FILE reads it"),
      OptionSpec("--origin", "NAME", "the origin that is expected"),
      OptionSpec("--mirror", "URL", repeats: true, "ask this place too").configurable,
      OptionSpec("--reuse", "FILE", repeats: true, "take equal blocks from this local file")
        .configurable,
      OptionSpec("--offline", "use the disk alone"),
      OptionSpec("--connections", "N", standard: "16", "at most N at a time").configurable,
      OptionSpec("--memory", "SIZE", standard: "64M", "for buffers and tiles").configurable,
      OptionSpec("--limit-rate", "RATE", "for the whole run").configurable,
      OptionSpec("--connect-timeout", "TIME", standard: "10s", "give an attempt up after it")
        .configurable,
      OptionSpec("--first-byte-timeout", "TIME", standard: "30s", "the same for an answer")
        .configurable,
      OptionSpec("--stall", "RATE/TIME", standard: "1K/20s", "give a transfer up below this")
        .configurable,
      OptionSpec("--give-up-after", "TIME", standard: "10m", "end after this long without a block")
        .configurable,
      OptionSpec("--retry-now", "ask at once those who failed before"),
      OptionSpec(
        "--on-new-version", "POLICY", standard: "continue",
        choices: PullRequest.NewVersionPolicy.allCases.map(\.rawValue), "continue, stop or switch"
      ).configurable,
      OptionSpec("--keep", "N", "keep N complete versions; default all").configurable,
      OptionSpec("--max-age", "TIME", "refuse if the newest sign of life is older").configurable,
    ] + ProxyOptions.specs + [
      OptionSpec("--header", "H", repeats: true, "send this header line; @FILE reads them")
        .configurable,
      OptionSpec.certificates,
      OptionSpec("--pin-sha256", "PIN", repeats: true, "a public key that the server has to have")
        .configurable,
      OptionSpec("--identity", "NAME", "show this client certificate; see 'fetchres identity'")
        .configurable,
      OptionSpec("--password-file", "FILE", "where the password of the identity is")
        .configurable.oneOf("password"),
      OptionSpec("--password-fd", "N", "read it from this descriptor").oneOf("password"),
      OptionSpec.stateDirectory,
      OptionSpec("--json", "one JSON object a line on standard output").oneOf("talk"),
      OptionSpec("--quiet", letter: "-q", "say nothing but errors").configurable.oneOf("talk"),
      OptionSpec("--verbose", letter: "-v", "say more").configurable.oneOf("talk"),
      OptionSpec("--map", "draw a map of the blocks on a terminal; the key m does, too")
        .configurable,
      OptionSpec("--progress", "a line of progress now and then, even in a log")
        .configurable.oneOf("talk"),
    ],
    notes: """
      Prints the path of the finished file. Every block is verified against the signed manifest
      before it is written. TIME: digits with s m h d. SIZE and RATE: digits with K M G T.
      """,
    operandCount: 1...1, configuresItself: true, run: run)

  private static func run(_ typed: ParsedArguments) throws(FetchFailure) -> Int32 {
    let keys = try keys(typed)
    let arguments = try configured(typed, keys)
    let view = try ProgressView(arguments)
    let interruption = Interruption()
    do throws(FetchFailure) {
      let request = try request(arguments, keys: keys)
      if request.output == "-", arguments.has("--json") {
        throw FetchFailure(.usage, "-o - and --json both want standard output")
      }
      _ = Signals { interruption.raise($0) }
      var session = PullSession(
        request, interruption: interruption,
        passwords: try PasswordOptions.source(arguments, interruption)
      ) { view.show($0) }
      session.mapIsWanted = { view.mapIsWanted }
      let result = try session.run()
      view.complete(result)
      return 0
    } catch {
      view.fail(error)
      return error.exitCode
    }
  }

  private static func keys(_ arguments: ParsedArguments) throws(FetchFailure) -> [String] {
    var keys: [String] = []
    for key in arguments.all("--key") { keys += try FileArgument.texts(key, "--key") }
    return keys
  }

  /// With what the configuration says of the origin that is expected.
  static func configured(
    _ typed: ParsedArguments, _ keys: [String]
  ) throws(FetchFailure) -> ParsedArguments {
    let configuration = try Configuration.load(typed)
    var common = typed
    common.fill(configuration.settings(for: nil))
    var request = PullRequest(url: typed.operands[0])
    request.directory = common.value("-d")
    request.keys = keys
    request.origin = common.value("--origin")
    request.stateDirectory = common.value("--state-dir")
    var arguments = typed
    arguments.fill(configuration.settings(for: try configuration.origin(of: request)))
    return arguments
  }

  static func request(
    _ arguments: ParsedArguments, keys: [String] = []
  ) throws(FetchFailure) -> PullRequest {
    var request = PullRequest(url: arguments.operands[0])
    request.keys = keys
    request.directory = arguments.value("-d")
    request.output = arguments.value("-o")
    request.origin = arguments.value("--origin")
    request.mirrors = arguments.all("--mirror")
    // Somebody who types it wants to see it tried.
    request.asksAtOnce =
      arguments.has("--retry-now")
      || Terminal.isTerminal(Terminal.standardInput) && Terminal.isTerminal(Terminal.standardError)
    request.reuse = arguments.all("--reuse")
    request.offline = arguments.has("--offline")
    if let value = try arguments.parse("--connections", "number", Quantities.count) {
      guard value > 0 else { throw FetchFailure(.usage, "--connections has to be at least 1") }
      request.connections = value
    }
    request.memory = try arguments.parse("--memory", "size", Quantities.size) ?? request.memory
    request.rateLimit = try arguments.parse("--limit-rate", "rate") { text in
      Quantities.size(text).flatMap { $0 > 0 ? $0 : nil }
    }
    request.connectTimeout =
      try arguments.parse("--connect-timeout", "time", Quantities.time) ?? request.connectTimeout
    request.firstByteTimeout =
      try arguments.parse("--first-byte-timeout", "time", Quantities.time)
      ?? request.firstByteTimeout
    if let stall = try arguments.parse("--stall", "rate and time", Quantities.stall) {
      (request.stallRate, request.stallWindow) = stall
    }
    request.giveUpAfter =
      try arguments.parse("--give-up-after", "time", Quantities.time) ?? request.giveUpAfter
    guard request.giveUpAfter > 0 else {
      throw FetchFailure(.usage, "--give-up-after has to be at least 1s")
    }
    request.onNewVersion =
      try arguments.parse("--on-new-version", "policy") {
        PullRequest.NewVersionPolicy(rawValue: $0)
      } ?? .continue
    request.keep = try arguments.parse("--keep", "number") { text in
      Quantities.count(text).flatMap { $0 > 0 ? $0 : nil }
    }
    request.headers = try HeaderOption.lines(arguments)
    request.proxy = try ProxyOptions.setting(arguments)
    request.proxyGrounds = ProxyOptions.grounds(arguments)
    request.certificateFile = arguments.value("--cacert")
    if let file = request.certificateFile { try checkReadable(file) }
    request.maximumAge = try arguments.parse("--max-age", "time", Quantities.time).map { Int64($0) }
    request.identity = arguments.value("--identity")
    request.pins = arguments.all("--pin-sha256")
    request.stateDirectory = arguments.value("--state-dir")
    return request
  }

  private static func checkReadable(_ path: String) throws(FetchFailure) {
    do throws(SystemError) { _ = try RealFileSystem().openFile(path) } catch {
      throw FetchFailure(.usage, "cannot read the certificates \(path): \(error.reason)")
    }
  }
}
