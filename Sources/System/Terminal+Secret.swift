import Glibc
import Synchronization

/// Asking for a password.
extension Terminal {
  /// The terminal that this process was started on, whatever its standard streams are; nil if there is
  /// none.
  private static var own: Descriptor? {
    try? Descriptor.open("/dev/tty", O_RDWR | O_NOCTTY)
  }

  package static var isThere: Bool { own != nil }

  /// Asks on the terminal and reads one line that is not shown.
  ///
  /// - Parameter limit: bytes that a line may have; a longer one is `EMSGSIZE`.
  /// - Returns: the line without its end; nil if there is no terminal, or it ended.
  /// - Throws: `EINTR` once the interruption was raised: the terminal shows what is typed again by then.
  package static func askSecret(
    _ question: String, limit: Int, _ interruption: Interruption
  ) throws(SystemError) -> [UInt8]? {
    guard let terminal = own else { return nil }
    // A signal that ends the process has to find the terminal as it was.
    let held = HeldSignals()
    defer { held.release() }
    let stops = Stops()
    defer { stops.release() }
    var before = termios()
    guard tcgetattr(terminal.number, &before) == 0 else { throw .last("tcgetattr") }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO)
    silent.c_lflag |= tcflag_t(ICANON | ISIG)
    // What was typed before the question was not meant as the answer.
    guard tcsetattr(terminal.number, TCSAFLUSH, &silent) == 0 else { throw .last("tcsetattr") }
    defer {
      tcsetattr(terminal.number, TCSAFLUSH, &before)
      try? terminal.write("\n")
    }
    try terminal.write(question)
    return try readLine(from: terminal, limit: limit, interruption) {
      guard stops.haveCome else { return }
      // Who gets the terminal meanwhile finds it as it was, and leaves it as he likes.
      tcsetattr(terminal.number, TCSAFLUSH, &before)
      stops.stop()
      tcsetattr(terminal.number, TCSAFLUSH, &silent)
      try? terminal.write(question)
    }
  }

  /// Reads the first line of a stream or a file, byte for byte so that nothing behind it is taken.
  ///
  /// - Parameter look: called again and again while nothing comes.
  /// - Returns: nil if there is nothing before the end.
  package static func readLine(
    from descriptor: Descriptor, limit: Int, _ interruption: Interruption,
    _ look: () -> Void = {}
  ) throws(SystemError) -> [UInt8]? {
    // All the memory at once: growing would leave copies behind.
    var line: [UInt8] = []
    line.reserveCapacity(limit + 1)
    while true {
      guard interruption.signal == nil, !HeldSignals.isOnePending else {
        throw SystemError(EINTR, "read")
      }
      look()
      // A signal reaches another thread: this one looks for it.
      var waiting = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 100) > 0 else { continue }
      var byte: UInt8 = 0
      let result: Result<Int, SystemError> = withUnsafeMutableBytes(of: &byte) { buffer in
        do throws(SystemError) { return .success(try descriptor.readSome(into: buffer)) } catch {
          return .failure(error)
        }
      }
      if try result.get() == 0 { return line.isEmpty ? nil : line }
      if byte == UInt8(ascii: "\n") {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
      }
      guard line.count < limit else { throw SystemError(EMSGSIZE, "read") }
      line.append(byte)
    }
  }
}

/// Signals that would end the process, held back from this thread; where another thread waits for them,
/// it gets them as before.
private struct HeldSignals {
  private var before = sigset_t()

  private static var set: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&set, signal) }
    return set
  }

  init() {
    var set = Self.set
    pthread_sigmask(SIG_BLOCK, &set, &before)
  }

  /// One that came meanwhile does its work now.
  func release() {
    var before = before
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  static var isOnePending: Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains { sigismember(&pending, $0) == 1 }
  }
}

/// Stops (`SIGTSTP`) while the terminal is not as it was: put off until it is, whichever thread they
/// reach. Where they are ignored, they stay so.
private struct Stops {
  private static let isOnePending = Atomic(false)

  private var before = sigaction()
  private var own = sigaction()

  init() {
    Self.isOnePending.store(false, ordering: .relaxed)
    sigaction(SIGTSTP, nil, &before)
    own = before
    guard unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) != 1 else { return }
    own.__sigaction_handler.sa_handler = { _ in
      Stops.isOnePending.store(true, ordering: .relaxed)
    }
    own.sa_flags = SA_RESTART
    sigaction(SIGTSTP, &own, nil)
  }

  var haveCome: Bool { Self.isOnePending.load(ordering: .relaxed) }

  /// Stands still, as the signal wants it, until somebody lets the process go on.
  func stop() {
    Self.isOnePending.store(false, ordering: .relaxed)
    set(before)
    raise(SIGTSTP)
    set(own)
  }

  /// One that came too late to be seen does its work now.
  func release() {
    set(before)
    if haveCome { raise(SIGTSTP) }
  }

  private func set(_ action: sigaction) {
    var action = action
    sigaction(SIGTSTP, &action, nil)
  }
}
