import Failure
import MerkleTree

/// Where things stand below `<base>`, the same on a publisher's disk and behind a URL. On disk the
/// components are the names themselves; in a URL they are percent-encoded.
public enum SitePaths {
  public static let manifest = "manifest"
  public static let checkpoint = "checkpoint"
  public static let releases = "releases"

  /// `releases/<version>`.
  public static func release(_ version: String) -> String { "\(releases)/\(version)" }

  public static func releaseManifest(_ version: String) -> String {
    "\(release(version))/\(manifest)"
  }

  public static func file(_ version: String, _ file: String) -> String {
    "\(release(version))/\(file)"
  }

  public static func tile(_ version: String, _ tile: TileAddress) -> String {
    "\(release(version))/\(tile.path)"
  }

  /// Every byte outside `A-Za-z0-9._-` and the slash is percent-encoded.
  public static func urlPath(_ path: String) -> String {
    var text = ""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"), UInt8(ascii: "/"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        text += "%" + Hex.encode([byte]).uppercased()
      }
    }
    return text
  }
}
