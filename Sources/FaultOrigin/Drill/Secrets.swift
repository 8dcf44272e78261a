import System

/// Texts that a pull is given and that may never come out of it again.
struct Secrets: Sendable {
  let header: String
  let query: String
  let password: String

  init(_ draw: inout Draw) {
    func made(_ name: String) -> String { "\(name)-\(String(draw.next(), radix: 36))" }
    (header, query, password) = (made("bearer"), made("query"), made("password"))
  }

  private var all: [String] { [header, query, password] }

  /// Whether one of them stands in those bytes.
  func areIn(_ bytes: [UInt8]) -> Bool {
    all.contains { secret in
      let secret = Array(secret.utf8)
      guard let first = secret.first else { return false }
      var rest = bytes[...]
      while let at = rest.firstIndex(of: first) {
        if bytes[at...].starts(with: secret) { return true }
        rest = bytes[(at + 1)...]
      }
      return false
    }
  }

  /// The files below a directory that one of them stands in. Files of content are left out by their
  /// size.
  func files(below directory: String, limit: Int64 = 65_536) -> [String] {
    PlainDisk.files(directory).filter { name in
      let path = Path.join(directory, name)
      guard let status = PlainDisk.status(path), status.size <= limit,
        let bytes = try? PlainDisk.read(path)
      else { return false }
      return areIn(bytes)
    }
  }
}
