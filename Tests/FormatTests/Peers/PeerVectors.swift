import Foundation

/// Test vectors of other projects, read in place from the folder that FETCHRES_PEER_VECTORS names.
enum PeerVectors {
  static let folder = ProcessInfo.processInfo.environment["FETCHRES_PEER_VECTORS"].map {
    URL(filePath: $0, directoryHint: .isDirectory)
  }

  static var areThere: Bool { folder != nil }

  static func bytes(_ path: String) throws -> [UInt8] {
    guard let folder else { throw CocoaError(.fileNoSuchFile) }
    return try Array(Data(contentsOf: folder.appending(path: path)))
  }

  static func json<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes(path)))
  }

  /// The paths of all JSON files below `path`.
  static func files(below path: String) throws -> [String] {
    guard let folder else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder.appending(path: path).path())
      .filter { $0.hasSuffix(".json") }.map { "\(path)/\($0)" }.sorted()
  }
}
