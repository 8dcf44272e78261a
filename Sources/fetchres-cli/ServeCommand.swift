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
    FetchFailure.unimplementedServe()
  }
}

extension FetchFailure { static func unimplementedServe() -> Int32 { 1 } }
