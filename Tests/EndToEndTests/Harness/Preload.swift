import System
import Testing

/// A small library that stands between the program and the system, built out of `Tests/Shims`.
enum Preload: String, Sendable {
  case grantedLocks = "granted-locks"
  case shortCalls = "short-calls"
  case simpleShare = "simple-share"

  static let need: Comment = "there is no C compiler"

  static let isPossible: Bool = {
    guard let scratch = try? Scratch() else { return false }
    return (try? Preload.grantedLocks.build(in: scratch)) != nil
  }()

  struct NotBuilt: Error {
    let message: String
  }

  /// What puts the library in front.
  func variables(_ scratch: Scratch) throws -> [String: String] {
    var variables = ["LD_PRELOAD": try build(in: scratch)]
    // A sanitizer would rather be the first one.
    variables["ASAN_OPTIONS"] =
      (ThisProcess.environment("ASAN_OPTIONS").map { $0 + ":" } ?? "") + "verify_asan_link_order=0"
    return variables
  }

  private func build(in scratch: Scratch) throws -> String {
    let library = scratch("\(rawValue).so")
    let source = Path.join(Path.parent(Path.parent(Path.parent(#filePath))), "Shims/\(rawValue).c")
    let child = try Child(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"],
      environment: ["PATH": ThisProcess.environment("PATH") ?? "/usr/bin:/bin"])
    guard child.wait(within: Fetchres.patience) == .exited(0) else {
      throw NotBuilt(message: String(decoding: child.error, as: UTF8.self))
    }
    return library
  }
}
