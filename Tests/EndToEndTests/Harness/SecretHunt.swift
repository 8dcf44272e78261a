import Crypto
import Failure
import Foundation
import Glibc
import System
import Testing

/// Looks for secrets in every form that they leave a program in: plain, percent-encoded, and base64 of
/// whatever they may stand in.
struct SecretHunt: Sendable {
  private let forms: [(secret: String, bytes: [UInt8])]

  init(_ secrets: [String]) {
    forms = secrets.flatMap { secret in
      Set(Self.forms(of: secret)).map { (secret, Array($0.utf8)) }
    }
  }

  private static func forms(of secret: String) -> [String] {
    let bytes = Array(secret.utf8)
    let unreserved = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."~"))
    let escaped = [unreserved, unreserved.union(CharacterSet(charactersIn: "-._~"))].compactMap {
      secret.addingPercentEncoding(withAllowedCharacters: $0)
    }
    // What base64 makes of it depends on what stands before it; its first and last character also on
    // what stands beside it.
    let encoded = (0..<3).map { offset in
      let text = Base64.encode([UInt8](repeating: 0, count: offset) + bytes)
      let end = (offset + bytes.count) / 3 * 4
      return String(text.prefix(end).dropFirst(offset == 0 ? 0 : 4))
    }
    return [secret] + escaped + escaped.map { $0.lowercased() } + encoded
  }

  /// The secrets that are in there.
  func found(in bytes: [UInt8]) -> Set<String> {
    Set(forms.filter { Self.contains(bytes, $0.bytes) }.map(\.secret))
  }

  private static func contains(_ haystack: [UInt8], _ needle: [UInt8]) -> Bool {
    haystack.withUnsafeBytes { haystack in
      guard let base = haystack.baseAddress else { return false }
      var start = 0
      while start + needle.count <= haystack.count,
        let hit = memchr(base + start, Int32(needle[0]), haystack.count - needle.count - start + 1)
      {
        if memcmp(hit, needle, needle.count) == 0 { return true }
        start = UnsafeRawPointer(hit) - base + 1
      }
      return false
    }
  }

  func found(in outcome: Outcome) -> Set<String> {
    found(in: outcome.bytes).union(found(in: Array(outcome.error.utf8)))
  }

  /// What is in the files below a directory, and in their names.
  ///
  /// - Parameter isPlanted: the files that the test itself wrote secrets into.
  func found(below directory: String, but isPlanted: (String) -> Bool) throws -> Set<String> {
    var all: Set<String> = []
    let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
    for name in names ?? [] where !isPlanted(name) {
      all.formUnion(found(in: Array(name.utf8)))
      let path = "\(directory)/\(name)"
      guard let status = Disk.status(path), status.st_mode & S_IFMT == S_IFREG else { continue }
      all.formUnion(found(in: try Disk.read(path)))
    }
    return all
  }

  /// What others can list of a process that runs.
  func found(inProcess identifier: pid_t) -> Set<String> {
    ["cmdline", "environ"].reduce(into: []) { all, name in
      // What may not be read shows nothing.
      all.formUnion(found(in: (try? Disk.read("/proc/\(identifier)/\(name)")) ?? []))
    }
  }
}
