import Failure
import Storage
import System

/// An argument that is a text, or with an `@` in front the name of a file that holds texts.
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

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
