import CSystem
import Glibc

/// Single keys typed on standard input, while this process is in the foreground of a terminal. They
/// are not shown. ``end()``, every end of the process and every stop put the terminal back.
package struct TerminalKeys: ~Copyable {
  private var isOver = false

  package init() {}

  /// Waits for a key, for so many milliseconds; nil if none came.
  package mutating func next(within milliseconds: Int32) -> UInt8? {
    guard !isOver, fetchres_keys_begin(STDIN_FILENO) else {
      _ = poll(nil, 0, milliseconds)
      return nil
    }
    var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, milliseconds) > 0 else { return nil }
    var byte: UInt8 = 0
    guard Glibc.read(STDIN_FILENO, &byte, 1) == 1 else {
      // The terminal is gone, or this process has just left the foreground.
      if errno != EINTR { isOver = waiting.revents & Int16(POLLIN) == 0 }
      return nil
    }
    return byte
  }

  /// Whether the process was stopped and goes on, since this was asked last: what it drew is gone.
  package static func wasStopped() -> Bool { fetchres_keys_was_stopped() }

  package static func end() { fetchres_keys_end() }
}
