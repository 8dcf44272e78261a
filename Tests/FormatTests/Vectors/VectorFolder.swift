import Foundation
import Testing

enum VectorFolder {
  /// The folders, and the fewest cases that each has to hold, so that an empty one cannot pass.
  static let minimum = [
    "tree": 16, "inclusion": 130, "consistency": 150, "tile": 100, "key": 115, "note": 185,
    "checkpoint": 85, "manifest": 550,
  ]

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "TestVectors")

  static func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path())
      .filter { $0.hasSuffix(".json") }.sorted()
  }
}

@Suite struct VectorFolderTests {
  @Test(arguments: VectorFolder.minimum)
  func `every folder holds its cases and nothing else`(folder: String, minimum: Int) throws {
    let names = try VectorFolder.names(folder)
    #expect(names.count >= minimum)
    let all = try FileManager.default.contentsOfDirectory(
      atPath: VectorFolder.root.appending(path: folder).path())
    #expect(all.sorted() == names)
  }

  @Test func `no folder of vectors is left out`() throws {
    var folders: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: VectorFolder.root.path()) {
      let children = try? VectorFolder.names(name)
      if children?.isEmpty == false { folders.insert(name) }
    }
    #expect(folders == Set(VectorFolder.minimum.keys))
  }
}
