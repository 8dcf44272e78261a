/// What is piped or typed into this process.
package enum StandardInput {
  /// All of it.
  ///
  /// - Throws: `EFBIG` for more than `limit` bytes.
  package static func readAll(limit: Int) throws(SystemError) -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let piece = try read(4_096)
      if piece.isEmpty { return all }
      all += piece
      guard all.count <= limit else {
        throw .beyondLimit("standard input")
      }
    }
  }

  /// One line that somebody types, without its end; nil at the end of the input.
  package static func readLine() -> String? {
    var line: [UInt8] = []
    while let byte = (try? read(1))?.first, line.count < 1_024 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  private static func read(_ count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result: Result<Int, SystemError> = bytes.withUnsafeMutableBytes { buffer in
      do throws(SystemError) {
        return .success(try Terminal.standardInput.readSome(into: buffer))
      } catch { return .failure(error) }
    }
    return Array(bytes.prefix(try result.get()))
  }
}
