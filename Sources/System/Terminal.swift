import CSystem
import Glibc

/// Standard input, output and error.
package enum Terminal {
  package static let standardInput = Descriptor(owning: STDIN_FILENO)
  package static let standardOutput = Descriptor(owning: STDOUT_FILENO)
  package static let standardError = Descriptor(owning: STDERR_FILENO)

  package static func isTerminal(_ descriptor: Descriptor) -> Bool {
    isatty(descriptor.number) == 1
  }

  /// Whether another process group has the terminal now: this one was sent into the background. False
  /// where the shell of this process does not rule over that terminal.
  package static func isInBackground(_ descriptor: Descriptor) -> Bool {
    let foreground = tcgetpgrp(descriptor.number)
    return foreground != -1 && foreground != getpgrp()
  }

  /// Makes sure that the first three descriptors are taken: a file that is opened later must not get
  /// the place of a stream that was closed, or what is said would be written into it. What is read
  /// there is empty, and what is written fails as before. To be called before anything is opened.
  package static func occupyClosedStreams() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
      // It gets the lowest number that is free, which is this one.
      _ = fetchres_open("/dev/null", O_RDONLY, 0)
    }
  }

  /// The width of the terminal in columns; 80 where unknown.
  package static func columns(_ descriptor: Descriptor) -> Int {
    let columns = Int(fetchres_terminal_columns(descriptor.number))
    return columns > 0 ? columns : 80
  }

  /// The height of the terminal in rows; 24 where unknown.
  package static func rows(_ descriptor: Descriptor) -> Int {
    let rows = Int(fetchres_terminal_rows(descriptor.number))
    return rows > 0 ? rows : 24
  }
}

extension Descriptor {
  /// Writes text to a stream.
  package func write(_ text: String) throws(SystemError) {
    var text = text
    let result: Result<Void, SystemError> = text.withUTF8 { bytes in
      do throws(SystemError) {
        try writeAll(UnsafeRawBufferPointer(bytes))
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }
}

extension Descriptor {
  package func writeStream(_ bytes: [UInt8]) throws(SystemError) {
    let result: Result<Void, SystemError> = bytes.withUnsafeBytes { buffer in
      do throws(SystemError) {
        try writeAll(buffer)
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }
}
