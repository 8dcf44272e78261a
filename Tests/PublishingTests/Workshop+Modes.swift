import Failure
import Manifest
import MerkleTree
import Publishing
import ReleaseLog
import SignedNote
import Storage
import System
import TestSupport

/// What else a publisher does.
extension Workshop {
  private var publisher: Publisher {
    let time = UTCDate(seconds: seconds)
    return Publisher(fileSystem: fileSystem, now: { time }) { _ in }
  }

  @discardableResult
  func refresh(
    change: (inout Publisher.RefreshRequest) -> Void = { _ in }
  ) throws(FetchFailure) -> PublishResult {
    var request = Publisher.RefreshRequest(site: Self.site, keyFiles: keys)
    change(&request)
    return try publisher.refresh(request)
  }

  @discardableResult
  func prune(_ version: String) throws(FetchFailure) -> Bool {
    try publisher.prune(version, site: Self.site)
  }

  @discardableResult
  func release(_ checkpoint: [UInt8]) throws(FetchFailure) -> Manifest {
    try publisher.release(checkpoint: checkpoint, site: Self.site)
  }

  @discardableResult
  func abandon() throws(FetchFailure) -> Bool { try publisher.abandon(site: Self.site) }

  func verifyLog(
    report: @escaping (String) -> Void = { _ in }
  ) throws(FetchFailure) -> LogVerification.Summary {
    try LogVerification(site: Self.site, fileSystem, report: report).run()
  }

  func uploadOrder() throws(FetchFailure) -> UploadOrder {
    try UploadOrder(site: Self.site, fileSystem)
  }

  /// Rebuilds the site from what another one serves, as a recovery over the network does.
  func recover(
    from source: [String: [UInt8]], report: @escaping (String) -> Void = { _ in }
  ) throws(FetchFailure) {
    func fetch(_ path: String) throws(FetchFailure) -> [UInt8] {
      guard let bytes = source[path] else {
        var failure = FetchFailure(.httpStatus, "\(path) is not served")
        failure.httpStatus = 404
        throw failure
      }
      return bytes
    }
    let rebuild = try SiteRebuild(site: Self.site, keyFile: keys[0], fileSystem, report: report)
    let checkpoint = try rebuild.accept(checkpoint: try fetch(SitePaths.checkpoint))
    let log = RemoteLog { path, _ throws(FetchFailure) in try fetch(path) }
    var tree = try AuthenticatedTree(count: checkpoint.size, root: checkpoint.root)
    try rebuild.checkExtends(&tree) { tile throws(FetchFailure) in try log.tile(tile) }
    for index in 0...(checkpoint.size - 1) / Int64(Tile.width) {
      try rebuild.put(try log.entries(index, of: &tree), index: index)
    }
    let newest = try rebuild.putManifests()
    if try !rebuild.hasData(of: newest) {
      let work = try rebuild.workDirectory()
      let data = try fetch(SitePaths.file(newest.version, newest.file))
      let file = try doing("cannot keep the data") { () throws(SystemError) in
        try work.replaceFile("data", data)
        return try work.openFile("data", .read)
      }
      try rebuild.putData(of: newest, file)
    }
    try rebuild.finish()
  }
}
