import Crypto
import Failure
import Manifest
import SignedNote
import Storage
import System

/// A version whose marker is valid: all that counts as available.
package struct CompletedVersion: Sendable {
  package let manifest: Manifest
  /// The manifest note that lies beside the file.
  package let note: [UInt8]

  static let markerName = "complete"
  static let manifestName = "manifest"
  private static let firstLine = "fetchres complete v1"
  private static let markerLimit = 4_096

  /// Reads `DIR/<version>`. Nil unless its marker is valid: the manifest beside it hashes to what the
  /// marker says and parses to the same values, and the file is a regular one of the right size. The
  /// bytes are not hashed again; whoever can write here can forge a marker.
  package init?(_ version: String, in target: any Directory) {
    guard Manifest.isVersion(version), let directory = try? target.openDirectory(version),
      let marker = try? directory.readFile(Self.markerName, limit: Self.markerLimit),
      let note = try? directory.readFile(Self.manifestName, limit: Manifest.maximumByteCount),
      let manifest = try? Manifest(selfSigned: note), manifest.version == version,
      marker == Self.marker(manifest, note: note),
      let status = try? directory.status(manifest.file), status.kind == .regular,
      status.size == manifest.layout.size
    else { return nil }
    self.manifest = manifest
    self.note = note
  }

  /// The bytes of `complete`.
  package static func marker(_ manifest: Manifest, note: [UInt8]) -> [UInt8] {
    let lines = [
      firstLine, "origin \(manifest.origin)", "version \(manifest.version)",
      "release \(manifest.release)", "file \(manifest.file)", "size \(manifest.layout.size)",
      "root \(manifest.root)", "manifest-sha256 \(SHA256.digest(note))",
    ]
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }
}
