import CSystem
import Glibc

/// What keeps secrets of this process from others.
extension ThisProcess {
  /// From now on a crash leaves no picture of the memory behind, and no other process of the same user
  /// reads it. To be called before a key or a password is in memory; it is never taken back.
  package static func forbidCoreDumps() { _ = fetchres_forbid_core_dumps() }

  /// Blanks every occurrence of `secret` in the arguments that the process was started with, which
  /// everybody on this machine can list. Until then they could be seen.
  package static func hideInArguments(_ secret: String) {
    let wanted = Array(secret.utf8)
    guard !wanted.isEmpty else { return }
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = CommandLine.unsafeArgv[index] else { continue }
      let bytes = UnsafeMutableRawBufferPointer(start: argument, count: strlen(argument))
      var start = 0
      while start + wanted.count <= bytes.count {
        if bytes[start..<start + wanted.count].elementsEqual(wanted) {
          for place in start..<start + wanted.count { bytes[place] = UInt8(ascii: "*") }
          start += wanted.count
        } else {
          start += 1
        }
      }
    }
  }
}
