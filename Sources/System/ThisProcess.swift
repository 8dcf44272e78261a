import CSystem
import Glibc

/// What the process was started with, and how it ends.
package enum ThisProcess {
  package static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  package static var workingDirectory: String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// The path of the program that runs.
  package static var executable: String? {
    let links = try? Descriptor.open("/proc/self", Descriptor.readOnly | Descriptor.directory)
    return try? links?.readSymbolicLink("exe")
  }

  package static var identifier: Int32 { getpid() }

  package static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Ends the process without running exit handlers of libraries.
  package static func exit(_ status: Int32) -> Never {
    TerminalKeys.end()
    fflush(nil)
    _exit(status)
  }

  /// The largest resident size so far, in bytes.
  package static var peakMemory: Int64 {
    fetchres_peak_memory()
  }
}
