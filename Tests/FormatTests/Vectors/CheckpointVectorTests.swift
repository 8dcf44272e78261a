import Failure
import SignedNote
import Testing

@Suite struct CheckpointVectorTests {
  struct Fields: Decodable, Sendable {
    let text: String
    let origin: String?
    let size: Int64?
    let root: VectorBytes?
  }

  @Test(arguments: try VectorFile<Fields>.all(in: "checkpoint"))
  func `a checkpoint has the verdict of its vector`(_ file: VectorFile<Fields>) throws {
    let fields = file.fields
    let key = SigningKey.generate(try #require(Origin("maps.example.com/world")))
    let bytes = Array("\(fields.text)\n\(key.signatureLine(text: fields.text))".utf8)
    func parse() throws(FetchFailure) -> Checkpoint {
      try Checkpoint(SignedNote(bytes).verify([key.key]))
    }
    let found = category { () throws(FetchFailure) in _ = try parse() }
    #expect(try found == file.refusal(), "\(file.about)")
    guard found == nil else { return }
    let checkpoint = try parse()
    #expect(checkpoint.origin.name == fields.origin)
    #expect(checkpoint.size == fields.size)
    #expect(checkpoint.root.bytes == fields.root?.bytes)
    #expect(checkpoint.text == fields.text)
  }
}
