import Failure
import MerkleTree
import Testing

@Suite struct TileVectorTests {
  struct Fields: Decodable, Sendable {
    let path: String
    let level: Int?
    let index: Int64?
    let width: Int?
  }

  @Test(arguments: try VectorFile<Fields>.all(in: "tile"))
  func `a tile path has the verdict of its vector`(_ file: VectorFile<Fields>) throws {
    let fields = file.fields
    let found = category { () throws(FetchFailure) in _ = try TileAddress(path: fields.path) }
    #expect(try found == file.refusal(), "\(file.about)")
    guard found == nil else { return }
    let address = try TileAddress(path: fields.path)
    #expect(address.level == fields.level)
    #expect(address.index == fields.index)
    #expect(address.width == fields.width)
    #expect(address.path == fields.path)
    #expect(
      TileAddress.entriesPath(index: address.index, width: address.width)
        == fields.path.replacing(/^tile\/\d+/, with: "tile/entries"))
  }
}
