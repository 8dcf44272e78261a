import Failure
import FetchResKit
import Storage
import System

/// `fetchres pull`.
enum PullCommand {
  static let spec = CommandSpec(
    name: "pull", operands: "URL [option…]",
    summary: "Fetch the newest version of a resource, or go on where an earlier run stopped.",
    options: [
      OptionSpec("-d", "DIR", "where it lives; default: last component of the origin"),
      OptionSpec("-o", "FILE", "put a copy there; - streams it to standard output"),
      OptionSpec("--key", "VKEY", repeats: true, "public key to trust; @FILE reads it"),
      OptionSpec("--origin", "NAME", "the origin that is expected"),
      OptionSpec("--mirror", "URL", repeats: true, "ask this place too"),
      OptionSpec("--reuse", "FILE", repeats: true, "take equal blocks from this local file"),
      OptionSpec("--offline", "use the disk alone"),
      OptionSpec("--connections", "N", "at most N at a time; default 16"),
      OptionSpec("--memory", "SIZE", "for buffers and tiles; default 64M"),
      OptionSpec("--limit-rate", "RATE", "for the whole run"),
      OptionSpec("--connect-timeout", "TIME", "default 10s"),
      OptionSpec("--first-byte-timeout", "TIME", "default 30s"),
      OptionSpec("--stall", "RATE/TIME", "give a transfer up below this; default 1K/20s"),
      OptionSpec("--give-up-after", "TIME", "end after this long without a block; default 10m"),
      OptionSpec("--retry-now", "ask at once those who failed before"),
      OptionSpec("--on-new-version", "POLICY", "continue (default), stop or switch"),
      OptionSpec("--keep", "N", "keep N complete versions; default all"),
      OptionSpec("--max-age", "TIME", "refuse if the newest sign of life is older"),
      OptionSpec("--proxy", "URL", "go through this proxy: http, https or socks5h"),
      OptionSpec("--proxy-auth-file", "FILE", "its user and password, as USER:PASSWORD"),
      OptionSpec("--no-proxy", "go through none, whatever the environment says"),
      OptionSpec("--tor", "go through Tor, at 127.0.0.1:9050"),
      OptionSpec("--tor-socks", "ADDR:PORT", "go through Tor, at this address"),
      OptionSpec("--header", "H", repeats: true, "send this header line; @FILE reads them"),
      OptionSpec("--cacert", "FILE", "trust these certificates instead of the system's"),
      OptionSpec("--pin-sha256", "PIN", repeats: true, "a public key that the server has to have"),
      OptionSpec("--identity", "NAME", "show this client certificate; see 'fetchres identity'"),
      OptionSpec("--password-file", "FILE", "where the password of the identity is"),
      OptionSpec("--password-fd", "N", "read it from this descriptor"),
      OptionSpec("--state-dir", "DIR", "where own records are kept"),
      OptionSpec("--json", "one JSON object a line on standard output"),
      OptionSpec("--quiet", letter: "-q", "say nothing but errors"),
      OptionSpec("--verbose", letter: "-v", "say more"),
      OptionSpec("--progress", "show progress even if standard error is no terminal"),
    ],
    notes: """
      Prints the path of the finished file. Every block is verified against the signed manifest
      before it is written. TIME: digits with s m h d. SIZE and RATE: digits with K M G T.
      """,
    operandCount: 1...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let view = try ProgressView(arguments)
    let interruption = Interruption()
    do throws(FetchFailure) {
      let request = try request(arguments)
      if request.output == "-", arguments.has("--json") {
        throw FetchFailure(.usage, "-o - and --json both want standard output")
      }
      _ = Signals { interruption.raise($0) }
      let session = PullSession(
        request, interruption: interruption,
        passwords: try PasswordOptions.source(arguments, interruption)
      ) { view.show($0) }
      let result = try session.run()
      view.complete(result)
      return 0
    } catch {
      view.fail(error)
      return error.exitCode
    }
  }

  private static func request(_ arguments: ParsedArguments) throws(FetchFailure) -> PullRequest {
    var request = PullRequest(url: arguments.operands[0])
    request.directory = arguments.value("-d")
    request.output = arguments.value("-o")
    for key in arguments.all("--key") { request.keys += try FileArgument.texts(key, "--key") }
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
