import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote
import Testing

@Suite struct ManifestTests {
  private let key: SigningKey
  private let other: SigningKey
  private let full: Manifest

  init() throws {
    let origin = try #require(Origin("maps.example.com/world"))
    key = SigningKey.generate(origin)
    other = SigningKey.generate(origin)
    full = Manifest(
      origin: origin, version: "2026.11.30", release: 41,
      layout: try #require(BlockLayout(size: 1_310_720_001, blockSize: 1_048_576)),
      root: ReferenceTree.leaf([1]), file: "world.map",
      published: try #require(UTCDate("2026-11-30T05:34:40Z")),
      expires: UTCDate("2027-05-30T00:00:00Z"), key: key.key, since: 7,
      nextKey: ReferenceTree.leaf([2]),
      mirrors: ["https://cdn1.example.com/world/", "http://cdn2.example.com:8080/"],
      extensions: [
        Manifest.Extension(name: "x-note", value: "a value  with é"),
        Manifest.Extension(name: "x-note", value: "b "),
      ])
  }

  private func parse(_ text: String) throws(FetchFailure) -> Manifest {
    let note = try SignedNote(SignedNote.sign(text: text, keys: [key]))
    return try Manifest(note.verify([key.key]))
  }

  private func refusal(_ text: String) -> FailureCategory? {
    category { () throws(FetchFailure) in _ = try parse(text) }
  }

  @Test func `a manifest is read from its text`() throws {
    #expect(try parse(full.text) == full)
    var least = full
    (least.expires, least.nextKey, least.mirrors, least.extensions) = (nil, nil, [], [])
    #expect(try parse(least.text) == least)
    #expect(least.text.split(separator: "\n").count == 12)
    #expect(full.text.contains("\nblocks 1251\n"))
  }

  @Test func `no line can be left out but the optional ones, none doubled, none moved`() throws {
    let lines = full.text.split(separator: "\n")
    func joined(_ lines: some Sequence<Substring>) -> String { lines.map { "\($0)\n" }.joined() }
    func word(_ line: Substring) -> Substring { line.prefix { $0 != " " } }
    for index in lines.indices {
      var less = lines
      less.remove(at: index)
      let isOptional = ["expires", "next-key", "mirror", "x-note"].contains(word(lines[index]))
      #expect(refusal(joined(less)) == (isOptional ? nil : .manifestMalformed))

      var doubled = lines
      doubled.insert(lines[index], at: index)
      let mayRepeat = ["mirror", "x-note"].contains(word(lines[index]))
      #expect(refusal(joined(doubled)) == (mayRepeat ? nil : .manifestMalformed))

      var blank = lines
      blank.insert("", at: index)
      #expect(refusal(joined(blank)) == .manifestMalformed)

      for target in lines.indices where target != index {
        var moved = lines
        moved.insert(moved.remove(at: index), at: target)
        guard moved.map(word) != lines.map(word) else { continue }
        #expect(refusal(joined(moved)) == .manifestMalformed)
      }
    }
    #expect(refusal(full.text + "\n") == .manifestMalformed)
  }

  @Test func `the refusal names the line`() throws {
    let lines = full.text.split(separator: "\n")
    for index in lines.indices.dropFirst() where !lines[index].hasPrefix("x-") {
      var wrong = lines.map(String.init)
      wrong[index] += " "
      do {
        _ = try parse(wrong.map { $0 + "\n" }.joined())
        Issue.record("'\(wrong[index])' was accepted")
      } catch {
        #expect(error.category == .manifestMalformed)
        #expect(error.message.contains("line \(index + 1) "))
      }
    }
  }

  @Test func `a first line or word from the future asks for a newer fetchres`() {
    let future = [
      full.text.replacing("manifest v1", with: "manifest v2"),
      full.text.replacing("fetchres manifest v1", with: "fetchres bundle v1"),
      full.text.replacing("since 7\n", with: "since 7\nlicense MIT\n"),
      full.text.replacing("since 7\n", with: "since 7\nsealed\n"),
      full.text + "license MIT\n", full.text + "sealed\n",
    ]
    for text in future {
      do {
        _ = try parse(text)
        Issue.record("accepted")
      } catch {
        #expect(error.category == .manifestMalformed)
        #expect(error.message.contains("this manifest needs a newer fetchres"))
      }
    }
  }

  @Test func `the key that the manifest names has to be among the signers`() throws {
    let bytes = SignedNote.sign(text: full.text, keys: [other])
    let note = try SignedNote(bytes).verify([other.key])
    #expect(
      category { () throws(FetchFailure) in _ = try Manifest(note) } == .badSignature)
    let both = SignedNote.sign(text: full.text, keys: [other, key])
    #expect(try Manifest(SignedNote(both).verify([other.key])) == full)
  }

  @Test func `65,535 bytes are read, one more is refused`() throws {
    func bytes(padding: Int) -> [UInt8] {
      let text = full.text + "x-padding " + String(repeating: "a", count: padding) + "\n"
      return SignedNote.sign(text: text, keys: [key])
    }
    let padding = 65_535 - bytes(padding: 0).count
    func refusal(_ bytes: [UInt8]) -> FailureCategory? {
      category { () throws(FetchFailure) in _ = try Manifest(SignedNote(bytes).verify([key.key])) }
    }
    #expect(refusal(bytes(padding: padding)) == nil)
    #expect(refusal(bytes(padding: padding + 1)) == .manifestMalformed)
  }

  @Test func `a refreshed manifest has the same content, another root has not`() {
    var refreshed = full
    (refreshed.release, refreshed.since, refreshed.expires) = (42, 42, nil)
    refreshed.mirrors = []
    #expect(refreshed.hasSameContent(as: full))
    refreshed.root = .empty
    #expect(!refreshed.hasSameContent(as: full))
  }
}
