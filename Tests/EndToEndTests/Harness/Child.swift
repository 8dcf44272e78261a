import Glibc
import System
import TestSupport

/// A process that a test started. All of its output is kept; it is killed when the last reference goes.
final class Child: Sendable {
  typealias Ending = ChildProcess.Ending

  private let process: ChildProcess

  var identifier: pid_t { process.identifier }
  var output: [UInt8] { process.output }
  var error: [UInt8] { process.error }

  /// Starts `executable` with standard input at its end, in `directory` if one is named.
  init(
    _ executable: String, _ arguments: [String], environment: [String: String],
    directory: String? = nil
  ) throws {
    process = try ChildProcess(
      executable, arguments, environment: environment.map { "\($0)=\($1)" }.sorted(),
      directory: directory, outputLimit: .max)
  }

  func send(_ signal: Int32) { process.send(signal) }

  /// Waits until the process has ended and closed its output; nil when the time is over before.
  func wait(within seconds: Double) -> Ending? { process.wait(within: seconds)?.ending }

  /// Waits until the standard output meets `condition`; false when it ends or takes too long.
  func waitForOutput(within seconds: Double, _ condition: (String) -> Bool) -> Bool {
    func isMet() -> Bool { condition(String(decoding: output, as: UTF8.self)) }
    _ = waitUntil(within: seconds) { isMet() || wait(within: 0) != nil }
    return isMet()
  }

  /// Watches the process to its end; its largest resident size in bytes, as last seen. (What the
  /// system says after the end counts the memory of this process too, from before the start.) What a
  /// sanitizer takes says nothing about the program: then it is 1.
  func peakMemory(within seconds: Double) -> Int64 {
    var peak: Int64 = 0
    _ = waitUntil(within: seconds) {
      let status = (try? Disk.read("/proc/\(identifier)/status")) ?? []
      let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix("VmHWM:") }
      let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
      if let kilobytes { peak = kilobytes << 10 }
      return wait(within: 0) != nil
    }
    return Sanitizer.isThere ? 1 : peak
  }
}

/// Looks again and again until something nobody tells about is the case; false if it takes too long.
func waitUntil(within seconds: Double = Fetchres.patience, _ condition: () -> Bool) -> Bool {
  let end = Clocks.monotonic() + seconds
  while !condition() {
    guard Clocks.monotonic() < end else { return false }
    _ = poll(nil, 0, 2)
  }
  return true
}
