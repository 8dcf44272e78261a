import FaultOrigin
import FetchResKit
import Foundation
import Publishing
import SignedNote
import Storage

/// A resource that is published and served, and a directory to pull it into; gone with the last
/// reference.
final class Publication: Sendable {
  let key: String
  private let path: String
  private let server: OriginServer

  static let blockSize: Int64 = 16 << 10
  /// What every version is the beginning of. Every block is another, so that none is taken from its
  /// neighbour.
  private static let allBytes =
    FileHandle(forReadingAtPath: "/dev/urandom")?.readData(ofLength: 4 << 20) ?? Data()

  init(size: Int) throws {
    path = NSTemporaryDirectory() + "/library-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard let origin = Origin("maps.example.com/world") else {
      preconditionFailure("FetchResKitTests: no origin")
    }
    key = try KeyFile.generate(origin, at: path + "/key", RealFileSystem()).description
    try Self.publish(size: size, version: "1.0", at: path)
    server = try OriginServer(site: path + "/site", listen: "127.0.0.1:0")
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(atPath: path)
  }

  /// A second server of the same site.
  func mirror() throws -> OriginServer {
    try OriginServer(site: path + "/site", listen: "127.0.0.1:0")
  }

  /// From now on nobody answers at the address of the base.
  func stopServing() { server.stop() }

  func publish(size: Int, version: String) throws {
    try Self.publish(size: size, version: version, at: path)
  }

  private static func publish(size: Int, version: String, at path: String) throws {
    try allBytes.prefix(size).write(to: URL(fileURLWithPath: path + "/world.map"))
    var request = PublishRequest(
      file: path + "/world.map", site: path + "/site", version: version, keyFiles: [path + "/key"])
    request.blockSize = blockSize
    _ = try Publisher { _ in }.publish(request)
  }

  /// The directory that is served.
  var site: String { path + "/site" }

  var stateDirectory: String { path + "/state" }

  var fetcher: Fetcher { Fetcher(directory: path + "/world", stateDirectory: stateDirectory) }

  /// What to pull, straight from the server.
  ///
  /// - Parameter rate: bytes a second; nil for no limit.
  func request(rate: Int64? = nil) -> PullRequest {
    var request = PullRequest(url: server.manifestURL, keys: [key])
    request.proxy = .none
    request.rateLimit = rate
    return request
  }

  /// The file that was published last.
  var content: Data? { FileManager.default.contents(atPath: path + "/world.map") }
}
