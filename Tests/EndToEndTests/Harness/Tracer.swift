import Glibc
import System
import Testing

/// Runs the program under `strace`, which lets single system calls fail.
enum Tracer {
  static let need: Comment = "strace is not installed, or may not trace"

  static let isPossible: Bool = {
    guard access(path, X_OK) == 0,
      let child = try? Child(path, ["-f", "-qq", "-o", "/dev/null", "/bin/true"], environment: [:])
    else { return false }
    return child.wait(within: Fetchres.patience) == .exited(0)
  }()

  private static let path = "/usr/bin/strace"

  /// One kind of failure: calls, and what they answer instead of doing anything.
  struct Injection: Sendable, CustomTestStringConvertible {
    /// Separated by commas; they count together.
    var calls: String
    var error: String

    init(_ calls: String, _ error: String) { (self.calls, self.error) = (calls, error) }

    var testDescription: String { "\(calls): \(error)" }
  }

  /// Starts the program so that call number `number` of the injection fails, or each from there on.
  static func start(
    _ fetchres: Fetchres, _ arguments: [String], _ injection: Injection, at number: Int,
    andAllAfter: Bool = false
  ) throws -> Child {
    let when = "\(number)" + (andAllAfter ? "+" : "")
    // Detached, so that the child is the program itself, and signals go to it.
    return try Child(
      path,
      [
        "-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=\(injection.calls)",
        "-e", "inject=\(injection.calls):error=\(injection.error):when=\(when)",
        Fetchres.binary,
      ] + arguments,
      environment: fetchres.environment)
  }

  /// How many of these calls a run makes.
  static func count(
    _ fetchres: Fetchres, _ arguments: [String], _ calls: String, log: String
  ) throws -> Int {
    let child = try Child(
      path,
      ["-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace=\(calls)", Fetchres.binary]
        + arguments, environment: fetchres.environment)
    try Outcome(of: child).expect(0)
    // Lines of calls that were interrupted by another thread stand there twice.
    return try String(decoding: Disk.read(log), as: UTF8.self).split(separator: "\n")
      .count { $0.contains("(") && !$0.contains("resumed>") }
  }
}
