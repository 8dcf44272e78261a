import Crypto
import Download
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import System
import Transport

/// A site behind a URL, as a publisher's tools read it: every file verified before it is believed.
package struct RemoteSite {
  let url: SiteURL
  let transport: any Transport
  package let interruption: Interruption
  /// Is told, in words, what goes on.
  let report: (String) -> Void
  private let small: SmallFetch

  package init(
    _ text: String, certificateFile: String?, proxy: ProxySetting, interruption: Interruption,
    report: @escaping (String) -> Void
  ) throws(FetchFailure) {
    OpenSSL.prepare()
    self.report = report
    url = try SiteURL(text)
    var policy = RequestPolicy(userAgent: "fetchres/\(fetchresVersion)")
    policy.certificateFile = certificateFile
    policy.proxy = try ProxyDecision(proxy, for: url.base).choice
    transport = CurlTransport(policy: policy)
    self.interruption = interruption
    small = SmallFetch(
      transport: transport, retry: RetryPolicy(giveUpAfter: 60), interruption: interruption
    ) {
      if case .sourceFailed(let failure) = $0 { report(failure.message) }
    }
  }

  /// The file at a path below the base.
  func fetch(_ path: String, _ limit: Int) throws(FetchFailure) -> [UInt8] {
    try small.run(url.base.appending(SitePaths.urlPath(path)), limit: limit) { $0 }
  }

  /// The release log.
  ///
  /// - Parameter fallsBack: whether a full tile may stand in for a partial one that is gone.
  func log(fallsBack: Bool) -> RemoteLog {
    RemoteLog(fallsBack: fallsBack) { path, limit throws(FetchFailure) in try fetch(path, limit) }
  }

  func tile(
    _ tile: TileAddress, of version: String
  ) throws(FetchFailure) -> SuspectTile {
    try SuspectTile(tile, try fetch(SitePaths.tile(version, tile), tile.byteCount))
  }

  /// The bytes of one block, of the right length and range and not verified.
  func block(_ index: Int64, of manifest: Manifest) throws(FetchFailure) -> [UInt8] {
    let range = manifest.layout.bytes(of: index..<index + 1)
    let path = SitePaths.urlPath(SitePaths.file(manifest.version, manifest.file))
    return try transport.fetch(
      Request(url.base.appending(path), range: range), limit: range.count, interruption,
      total: manifest.layout.size
    ).body
  }
}
