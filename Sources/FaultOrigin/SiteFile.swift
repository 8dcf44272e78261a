import Failure
import System

/// A regular file of a site, open, and what was true of it when it was opened.
package struct SiteFile: Sendable {
  /// Its names below the root of the site, decoded.
  package let components: [String]
  package let descriptor: Descriptor
  package let status: FileStatus

  package init(components: [String], descriptor: Descriptor, status: FileStatus) {
    (self.components, self.descriptor, self.status) = (components, descriptor, status)
  }

  package var size: Int64 { status.size }

  /// A strong validator (RFC 9110 section 8.8.3): inode, size and time of the last change.
  package var entityTag: String {
    func hex(_ value: some BinaryInteger) -> String { String(value, radix: 16) }
    let time = status.modified
    return "\"\(hex(status.inode))-\(hex(size))-\(hex(time.seconds)).\(hex(time.nanoseconds))\""
  }

  /// Whether this is one of the names whose bytes the publisher replaces: `manifest` anywhere, and
  /// `checkpoint`, which in a release directory may be the name of the resource itself.
  package var isMutable: Bool {
    switch components.last {
    case "manifest": true
    case "checkpoint": components.dropLast(2).last != "releases"
    default: false
    }
  }

  package var contentType: String {
    isMutable ? "text/plain; charset=utf-8" : "application/octet-stream"
  }

  package var cacheControl: String {
    isMutable ? "max-age=5" : "public, max-age=31536000, immutable"
  }
}
