import CSystem
import Glibc

/// A program that this process started. It is killed when the last reference goes.
///
/// Its output is kept up to a bound; what comes behind that is read and dropped, so that it never waits
/// for this process.
package final class ChildProcess: Sendable {
  package enum Ending: Sendable, Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  /// How it ended, and what the system counted for it.
  package struct End: Sendable, Equatable {
    package var ending: Ending
    /// The largest resident size in bytes. On Linux never less than what this process itself had when
    /// it started the child.
    package var peakMemory: Int64
  }

  private struct State: Sendable {
    var output: [UInt8] = []
    var error: [UInt8] = []
    var openStreams = 2
    var end: End?
  }

  package static let kill: Int32 = SIGKILL
  package static let terminate: Int32 = SIGTERM

  package let identifier: Int32
  private let state = Monitor(State())
  private let threads: [WorkThread]

  /// Starts `executable`, with standard input at its end.
  ///
  /// - Parameters:
  ///   - environment: all of it, as `NAME=value`.
  ///   - directory: where it works; nil for the same as this process.
  ///   - outputLimit: how many bytes of each of its outputs are kept.
  package init(
    _ executable: String, _ arguments: [String], environment: [String], directory: String? = nil,
    outputLimit: Int = 1 << 20
  ) throws(SystemError) {
    let (output, error) = (try Pipe(), try Pipe())
    let identifier = try Self.spawn(
      [executable] + arguments, environment, directory, output.writing, error.writing)
    self.identifier = identifier
    // The writing ends are not kept: a stream ends when the process closes it.
    let (state, fromOutput, fromError) = (state, output.reading, error.reading)
    threads = [
      WorkThread("child output") {
        Self.drain(fromOutput) { bytes in
          state.change { $0.output += bytes.prefix(max(0, outputLimit - $0.output.count)) }
        }
        state.change { $0.openStreams -= 1 }
      },
      WorkThread("child error") {
        Self.drain(fromError) { bytes in
          state.change { $0.error += bytes.prefix(max(0, outputLimit - $0.error.count)) }
        }
        state.change { $0.openStreams -= 1 }
      },
      WorkThread("child end") {
        // Waited for in two steps, so that no signal ever goes to a process that has its number next.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1,
          errno == EINTR
        {}
        state.change { state in
          var status: Int32 = 0
          var usage = rusage()
          wait4(identifier, &status, 0, &usage)
          state.end = End(
            ending: fetchres_wait_exited(status)
              ? .exited(fetchres_wait_exit_code(status)) : .killed(fetchres_wait_signal(status)),
            peakMemory: Int64(usage.ru_maxrss) << 10)
        }
      },
    ]
  }

  deinit {
    send(Self.kill)
    for thread in threads { thread.join() }
  }

  /// Sends a signal, unless the process has ended.
  package func send(_ signal: Int32) {
    state.look { state in
      if state.end == nil { _ = Glibc.kill(identifier, signal) }
    }
  }

  /// Waits until the process has ended and closed its output; nil when the time is over before.
  package func wait(within seconds: Double) -> End? {
    state.wait(until: Clocks.monotonic() + seconds) { state in
      state.openStreams == 0 ? state.end : nil
    }
  }

  package var output: [UInt8] { state.look { $0.output } }
  package var error: [UInt8] { state.look { $0.error } }

  // MARK: Starting

  private struct Pipe {
    let reading: Descriptor
    let writing: Descriptor

    init() throws(SystemError) {
      var ends: [Int32] = [-1, -1]
      guard fetchres_pipe(&ends) == 0 else { throw .last("pipe") }
      for end in ends { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) & ~O_NONBLOCK) }
      (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }
  }

  private static func spawn(
    _ words: [String], _ environment: [String], _ directory: String?, _ output: Descriptor,
    _ error: Descriptor
  ) throws(SystemError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output.number, 1)
    posix_spawn_file_actions_adddup2(&actions, error.number, 2)
    if let directory { fetchres_spawn_in(&actions, directory) }

    // Nothing of this process's handling of signals is inherited.
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

    var identifier = pid_t()
    let result = withCStrings(words) { words in
      withCStrings(environment) { environment in
        posix_spawn(&identifier, words[0]!, &actions, &attributes, words, environment)
      }
    }
    guard result == 0 else { throw SystemError(result, "posix_spawn", path: words.first) }
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
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while let count = try? buffer.withUnsafeMutableBytes({ try descriptor.readSome(into: $0) }),
      count > 0
    {
      take(Array(buffer[..<count]))
    }
  }
}
