import Failure
import Storage
import System

/// An argument that names a file, or that is a text, or with an `@` in front the name of a file that holds texts.
enum FileArgument {
  /// The text itself, or the lines of the file that hold anything, without white space around them.
  static func texts(_ given: String, _ option: String) throws(FetchFailure) -> [String] {
    guard given.hasPrefix("@") else { return [given] }
    let path = String(given.dropFirst())
    let bytes = try doing("cannot read \(path) for \(option)") { () throws(SystemError) in
      try RealFileSystem().openFile(path).readAll(path, limit: 65_536)
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      .map { trimmed($0) }.filter { !$0.isEmpty }
  }

  /// The bytes of a file of one kind, which has a bound: `category` says what a longer one is.
  static func bytes(
    _ path: String, of kind: String, limit: Int, else category: FailureCategory
  ) throws(FetchFailure) -> [UInt8] {
    try bounded(path, of: kind, limit: limit, else: category) { limit throws(SystemError) in
      try RealFileSystem().openFile(path).readAll(path, limit: limit)
    }
  }

  /// The same of whatever `read` reads from.
  static func bounded(
    _ name: String, of kind: String, limit: Int, else category: FailureCategory,
    _ read: (Int) throws(SystemError) -> [UInt8]
  ) throws(FetchFailure) -> [UInt8] {
    do throws(SystemError) { return try read(limit) } catch {
      guard error.isBeyondLimit else { throw error.failure("cannot read \(name)") }
      throw FetchFailure(category, "\(name) is no \(kind): it has more than \(limit) bytes")
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
