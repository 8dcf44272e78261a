import Crypto
import Download
import Failure
import Manifest
import MerkleTree
import Publishing
import SignedNote
import Storage
import System
import Transport

/// Hashes complete versions again.
package enum Verification {
  /// The root that the bytes on disk lead to.
  package static func root(
    of version: CompletedVersion, in directory: ResourceDirectory
  ) throws(FetchFailure) -> Digest {
    let file = try doing("cannot read \(directory.filePath(version))") { () throws(SystemError) in
      try directory.directory.openDirectory(version.manifest.version)
        .openFile(version.manifest.file, .read)
    }
    return try TreeOfFile.root(of: file, layout: version.manifest.layout)
  }
}

/// Fetches a manifest to look at it.
package enum ManifestInspection {
  package static func fetch(
    _ url: String, certificateFile: String?, proxy: ProxySetting = .environment
  ) throws(FetchFailure) -> [UInt8] {
    OpenSSL.prepare()
    let site = try SiteURL(url)
    var policy = RequestPolicy(userAgent: "fetchres/\(fetchresVersion)")
    policy.certificateFile = certificateFile
    policy.proxy = try ProxyDecision(proxy, for: site.base).choice
    let transport = CurlTransport(policy: policy)
    defer { transport.stop() }
    return try transport.fetch(
      Request(site.manifestURL), limit: Manifest.maximumByteCount, Interruption()
    ).body
  }
}
