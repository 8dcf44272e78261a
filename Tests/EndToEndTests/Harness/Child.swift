import CSystem
import Glibc
import System
import TestSupport

/// A process that a test started. Its output is kept; it is killed when the last reference goes.
final class Child: Sendable {
  enum Ending: Sendable, Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  private struct State: Sendable {
    var output: [UInt8] = []
    var error: [UInt8] = []
    var openStreams = 2
    var ending: Ending?
  }

  let identifier: pid_t
  private let state = Monitor(State())
  private let threads: [WorkThread]

  struct StartFailure: Error {
    let code: Int32
    let executable: String
  }

  /// Starts `executable` with standard input at its end, in `directory` if one is named.
  init(
    _ executable: String, _ arguments: [String], environment: [String: String],
    directory: String? = nil
  ) throws {
    let words =
      directory.map { ["/usr/bin/env", "-C", $0, executable] + arguments }
      ?? [executable] + arguments
    let (output, error) = (try Pipe(), try Pipe())
    identifier = try Self.spawn(
      words, environment.map { "\($0)=\($1)" }.sorted(), output.writing, error.writing)
    // The writing ends are not kept: a stream ends when the process closes it.
    let (state, identifier) = (state, identifier)
    let (fromOutput, fromError) = (output.reading, error.reading)
    threads = [
      WorkThread("child output") {
        Self.drain(fromOutput) { bytes in state.change { $0.output += bytes } }
        state.change { $0.openStreams -= 1 }
      },
      WorkThread("child error") {
        Self.drain(fromError) { bytes in state.change { $0.error += bytes } }
        state.change { $0.openStreams -= 1 }
      },
      WorkThread("child end") {
        // Waited for in two steps, so that no signal ever goes to a process that has its number next.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR
        {}
        state.change { state in
          var status: Int32 = 0
          waitpid(identifier, &status, 0)
          state.ending =
            fetchres_wait_exited(status)
            ? .exited(fetchres_wait_exit_code(status)) : .killed(fetchres_wait_signal(status))
        }
      },
    ]
  }

  deinit {
    send(SIGKILL)
    for thread in threads { thread.join() }
  }

  func send(_ signal: Int32) {
    state.look { state in
      if state.ending == nil { kill(identifier, signal) }
    }
  }

  /// Waits until the process has ended and closed its output; nil when the time is over before.
  func wait(within seconds: Double) -> Ending? {
    state.wait(until: Clocks.monotonic() + seconds) { state in
      state.openStreams == 0 ? state.ending : nil
    }
  }

  /// Waits until the standard output meets `condition`; false when it ends or takes too long.
  func waitForOutput(within seconds: Double, _ condition: (String) -> Bool) -> Bool {
    state.wait(until: Clocks.monotonic() + seconds) { state in
      if condition(String(decoding: state.output, as: UTF8.self)) { return true }
      return state.openStreams == 0 ? false : nil
    } ?? false
  }

  var output: [UInt8] { state.look { $0.output } }
  var error: [UInt8] { state.look { $0.error } }

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
      return state.look { $0.ending != nil }
    }
    return Sanitizer.isThere ? 1 : peak
  }

  // MARK: Starting

  private struct Pipe {
    let reading: Descriptor
    let writing: Descriptor

    init() throws {
      var ends: [Int32] = [-1, -1]
      guard fetchres_pipe(&ends) == 0 else { throw SystemError.last("pipe") }
      for end in ends { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) & ~O_NONBLOCK) }
      (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }
  }

  private static func spawn(
    _ words: [String], _ environment: [String], _ output: Descriptor, _ error: Descriptor
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output.number, 1)
    posix_spawn_file_actions_adddup2(&actions, error.number, 2)

    // Nothing of the signal handling of the test process is inherited.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

    let executable = words[0]
    var identifier = pid_t()
    let result = withCStrings(words) { words in
      withCStrings(environment) { environment in
        posix_spawn(&identifier, executable, &actions, &attributes, words, environment)
      }
    }
    guard result == 0 else { throw StartFailure(code: result, executable: executable) }
    return identifier
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
    defer { copies.forEach { free($0) } }
    return body(copies)
  }

  private static func drain(_ descriptor: Descriptor, _ take: ([UInt8]) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while let count = try? buffer.withUnsafeMutableBytes({ try descriptor.readSome(into: $0) }),
      count > 0
    {
      take(Array(buffer[..<count]))
    }
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
