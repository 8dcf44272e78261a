import Failure
import SignedNote
import Testing

@Suite struct NoteVectorTests {
  struct Fields: Decodable, Sendable {
    let note: String?
    /// In place of `note` where the bytes are no text.
    let noteHex: VectorBytes?
    let keys: [String]
    let text: String?
    let signers: [String]?
  }

  // covers: F31
  @Test(arguments: try VectorFile<Fields>.all(in: "note"))
  func `a note has the verdict of its vector`(_ file: VectorFile<Fields>) throws {
    let fields = file.fields
    let bytes = try #require(fields.note.map { Array($0.utf8) } ?? fields.noteHex?.bytes)
    let keys = try fields.keys.map { try #require(NoteKey($0)) }
    let found = category { () throws(FetchFailure) in _ = try SignedNote(bytes).verify(keys) }
    #expect(try found == file.refusal(), "\(file.about)")
    guard found == nil else { return }
    let note = try SignedNote(bytes).verify(keys)
    #expect(note.text.utf8.elementsEqual(try #require(fields.text).utf8))
    #expect(note.bytes == bytes)
    #expect(note.signers.map(\.name).sorted() == fields.signers?.sorted())
    #expect(note.signers.allSatisfy(note.note.isSigned))
  }
}
