import Failure

/// The identity of a resource: the name of its key, the first line of its checkpoints. It needs no
/// server behind it.
///
/// 1 to 200 bytes of `a-z 0-9 . - _ : /`; components between single slashes, none empty, none
/// beginning with `.` or `-`.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
  public let name: String

  public init?(_ name: some StringProtocol) {
    guard (1...200).contains(name.utf8.count), name.utf8.allSatisfy(Self.isAllowed) else {
      return nil
    }
    for component in name.split(separator: "/", omittingEmptySubsequences: false) {
      guard let first = component.utf8.first, first != UInt8(ascii: "."),
        first != UInt8(ascii: "-")
      else { return nil }
    }
    self.name = String(name)
  }

  public var description: String { name }

  /// The default name of the directory of this resource: the last component, `:` as `_`.
  public var directoryName: String {
    let last = name.utf8.split(separator: UInt8(ascii: "/")).last ?? Substring(name).utf8[...]
    return String(
      decoding: last.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: ".-_:/".utf8.contains(byte)
    }
  }
}
