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

  /// The width of the terminal in columns; 80 where unknown.
  package static func columns(_ descriptor: Descriptor) -> Int {
    let columns = Int(fetchres_terminal_columns(descriptor.number))
    return columns > 0 ? columns : 80
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
