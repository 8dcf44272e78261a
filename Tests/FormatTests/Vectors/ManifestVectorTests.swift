import Crypto
import Failure
import Manifest
import SignedNote
import Testing

@Suite struct ManifestVectorTests {
  struct Fields: Decodable, Sendable {
    let note: String
    let key: String
    let otherKeys: [String]?
    /// The line that the refusal has to name, where there is one.
    let line: Int?
    let fields: Facts?
  }

  struct Facts: Decodable, Sendable {
    struct Extension: Decodable, Sendable, Equatable {
      let name: String
      let value: String
    }

    let origin: String
    let version: String
    let release: Int64
    let size: Int64
    let blockSize: Int64
    let blocks: Int64
    let root: VectorBytes
    let file: String
    let published: String
    let publishedUnix: Int64
    let expires: String?
    let expiresUnix: Int64?
    let key: String
    let since: Int64
    let nextKey: VectorBytes?
    let mirrors: [String]
    let extensions: [Extension]
  }

  private func parse(_ fields: Fields) throws -> Manifest {
    let keys = try ([fields.key] + (fields.otherKeys ?? [])).map { try #require(NoteKey($0)) }
    return try Manifest(SignedNote(Array(fields.note.utf8)).verify(keys))
  }

  // covers: F30
  @Test(arguments: try VectorFile<Fields>.all(in: "manifest"))
  func `a manifest has the verdict of its vector`(_ file: VectorFile<Fields>) throws {
    let fields = file.fields
    let manifest: Manifest
    do {
      manifest = try parse(fields)
    } catch let failure as FetchFailure {
      #expect(try failure.category == file.refusal(), "\(file.about)")
      guard let line = fields.line else { return }
      #expect(
        failure.message.contains("line \(line) ") && file.verdict == "manifest-malformed",
        "\(failure.message)")
      return
    }
    #expect(file.verdict == "accept", "\(file.about)")
    let facts = try #require(fields.fields)
    #expect(manifest.origin.name == facts.origin)
    #expect(manifest.version == facts.version)
    #expect(manifest.release == facts.release)
    #expect(manifest.layout.size == facts.size)
    #expect(manifest.layout.blockSize == facts.blockSize)
    #expect(manifest.layout.count == facts.blocks)
    #expect(manifest.root.bytes == facts.root.bytes)
    #expect(manifest.file == facts.file)
    #expect(manifest.published.text == facts.published)
    #expect(manifest.published.seconds == facts.publishedUnix)
    #expect(manifest.expires?.text == facts.expires)
    #expect(manifest.expires?.seconds == facts.expiresUnix)
    #expect(manifest.key.description == facts.key)
    #expect(manifest.since == facts.since)
    #expect(manifest.nextKey?.bytes == facts.nextKey?.bytes)
    #expect(manifest.mirrors == facts.mirrors)
    #expect(
      manifest.extensions.map { Facts.Extension(name: $0.name, value: $0.value) }
        == facts.extensions)
    #expect(fields.note.utf8.starts(with: (manifest.text + "\n\u{2014} ").utf8))
  }
}
