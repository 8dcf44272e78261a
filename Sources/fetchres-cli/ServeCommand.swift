import FaultOrigin
import Failure
import System

/// `fetchres serve`.
enum ServeCommand {
  static let spec = CommandSpec(
    name: "serve", operands: "SITE [--listen ADDR:PORT]",
    summary: "Serve a site for trying things out and for tests. It is no production server.",
    options: [
      OptionSpec("--listen", "ADDR:PORT", "default 127.0.0.1:8000; port 0 picks a free one")
    ],
    notes: "The first line on standard output is the URL of the manifest, once it listens.",
    operandCount: 1...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    // The signals first: the threads of the server must not be the ones to get them.
    let state = Monitor(State())
    _ = Signals { signal in
      let server = state.change { state in
        state.signal = signal
        return state.server
      }
      server?.stop()
    }
    let server = try OriginServer(
      site: arguments.operands[0], listen: arguments.value("--listen") ?? "127.0.0.1:8000")
    let early = state.change { state in
      state.server = server
      return state.signal
    }
    if let early { return 128 + early }
    Output.write(server.manifestURL + "\n")
    Talk.note(
      "this is no production server: nginx, a CDN or an object store is; ctrl-C ends it")
    server.run()
    return state.look { $0.signal }.map { 128 + $0 } ?? 0
  }

  private struct State: Sendable {
    var server: OriginServer?
    var signal: Int32?
  }
}
