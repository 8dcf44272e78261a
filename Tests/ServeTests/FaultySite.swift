import Failure
import System

@testable import FaultOrigin

/// A site of files that look like a release, behind a server with a plan, and what it reported.
final class FaultySite: Sendable {
  let site: ServeSite
  let server: FaultServer
  private let reported: Monitor<[FaultRecord]>

  static let blockSize = 100
  static let data = patternBytes(1_050)
  static let dataPath = "/releases/v1/thing.bin"
  static let tilePath = "/releases/v1/tile/0/000.p/11"
  static let note =
    "fetchres manifest v1\norigin example.org/thing\nversion v1\nsize 1050\nblock-size 100\n"
    + "file thing.bin\n\n\u{2014} example.org/thing "
    + Base64.encode((0..<68).map { UInt8($0 * 3) }) + "\n"

  init(_ rules: String, seed: UInt64 = 1) throws {
    site = try ServeSite()
    try site.write("manifest", Self.note.utf8)
    try site.write("checkpoint", Self.note.utf8)
    try site.write("releases/v1/manifest", Self.note.utf8)
    try site.write("releases/v1/thing.bin", Self.data)
    try site.write("releases/v1/tile/0/000.p/11", patternBytes(11 * 32))
    try site.write("tile/0/000.p/2", patternBytes(64))
    try site.write("tile/entries/000.p/2", patternBytes(900))
    for name in ["manifest", "checkpoint", "tile/0/000.p/2", "tile/entries/000.p/2"] {
      try site.writeOutside(name, "elsewhere".utf8)
    }
    try site.writeOutside("releases/v1/thing.bin", patternBytes(1_050).reversed())
    var settings = FaultServer.Settings(listen: ["127.0.0.1:0"])
    settings.plan = try FaultPlan(
      rules, name: "test", directory: Path.parent(site.outside))
    settings.seed = seed
    let reported = Monitor<[FaultRecord]>([])
    self.reported = reported
    server = try FaultServer(site: site.path, settings) { event in
      if case .fault(let record) = event { reported.change { $0.append(record) } }
    }
  }

  deinit { server.stop() }

  var faults: [FaultRecord] { reported.look { $0 } }

  func client(port: Int = 1) throws -> RawClient {
    let url = server.manifestURLs[port - 1]
    return try RawClient(String(url.dropFirst("http://".count).dropLast("/manifest".count)))
  }

  /// Everything that comes for one request over a connection of its own, until nothing more does.
  func exchange(_ path: String, range: String? = nil, closes: Bool = true) throws -> [UInt8] {
    let client = try client()
    let field = range.map { "Range: bytes=\($0)\r\n" } ?? ""
    let end = closes ? "Connection: close\r\n\r\n" : "\r\n"
    try client.send("GET \(path) HTTP/1.1\r\nHost: test\r\n\(field)\(end)")
    return try client.readToEnd()
  }

  /// A path that a fault applies to.
  static func path(for fault: Fault) -> String {
    switch fault.facts.targets.first {
    case .manifest?: "/manifest"
    case .checkpoint?: "/checkpoint"
    case .tile?, .blockTile?: tilePath
    case .logTile?: "/tile/0/000.p/2"
    case .entries?: "/tile/entries/000.p/2"
    case .data?, .any?, .block?, nil: dataPath
    }
  }
}
