import Glibc
import System
import Testing

/// A run of the program, and where it connected or sent to: seen from outside, by its system calls.
struct ConnectTrace {
  let outcome: Outcome
  /// Calls that lead anywhere but to the ports that are allowed, which are on this machine's loopback
  /// address.
  let leaks: [String]
  /// The ports that were asked.
  let asked: Set<UInt16>

  private static let strace = "/usr/bin/strace"

  static let isPossible =
    ProxyProcess.isAvailable && Disk.exists(strace)
    && (try? Child(strace, ["-f", "-o", "/dev/null", "/bin/true"], environment: [:]))?
      .wait(within: Fetchres.patience) == .exited(0)
  static let need: Comment = "needs strace and the proxies, which Tests/run.sh installs"

  /// Runs the program in an environment that would have any proxy passed by.
  init(
    _ bench: Workbench, _ arguments: [String], to addresses: [String],
    onStart: (Child) throws -> Void = { _ in }
  ) throws {
    let log = bench.scratch("strace-\(UInt64.random(in: 0 ... .max))")
    var environment = bench.fetchres.environment
    (environment["NO_PROXY"], environment["no_proxy"]) = ("*", "*")
    let child = try Child(
      Self.strace,
      ["-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", log, Fetchres.binary]
        + arguments, environment: environment)
    try onStart(child)
    outcome = try Outcome(of: child)
    let ports = addresses.compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } }
    try #require(ports.count == addresses.count)
    let lines = String(decoding: try Disk.read(log), as: UTF8.self).split(separator: "\n")
    // A call that names an address, of whatever family. The kernel itself is asked over netlink.
    let addressed = lines.filter { $0.contains("sa_family=") && !$0.contains("AF_NETLINK") }
    func port(_ line: Substring) -> UInt16? {
      ports.first {
        line.contains("sa_family=AF_INET, sin_port=htons(\($0)), sin_addr=inet_addr(\"127.0.0.1\")")
      }
    }
    leaks = addressed.filter { port($0) == nil }.map(String.init)
    asked = Set(addressed.compactMap(port))
  }

  /// Fails if anybody else was asked, or the proxies were not.
  func expectTight(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(leaks.isEmpty, "\(leaks)", sourceLocation: sourceLocation)
    #expect(!asked.isEmpty, "\(outcome)", sourceLocation: sourceLocation)
  }
}
