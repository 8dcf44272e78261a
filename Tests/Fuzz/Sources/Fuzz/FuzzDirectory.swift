@testable import Storage
@testable import System

/// A directory of this process, below the one that `FETCHRES_FUZZ_SCRATCH` names. Whoever made that one
/// removes it.
enum FuzzDirectory {
  static let shared: any Directory = {
    guard let scratch = ThisProcess.environment("FETCHRES_FUZZ_SCRATCH") else {
      fatalError("Fuzz: FETCHRES_FUZZ_SCRATCH names no directory")
    }
    do throws(SystemError) {
      return try RealFileSystem().openDirectory(scratch)
        .openOrMakeDirectory("\(ThisProcess.identifier)", permissions: 0o700)
    } catch { fatalError("Fuzz: no directory: \(error)") }
  }()
}

extension Directory {
  /// Gives a file this content, durable or not.
  func put(_ name: String, _ bytes: [UInt8]) throws(SystemError) {
    let file = try openFile(name, .create(permissions: 0o600))
    try file.truncate(to: 0)
    try file.writeAll(bytes)
  }
}
