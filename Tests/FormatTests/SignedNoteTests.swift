import Crypto
import Failure
import SignedNote
import Testing

@Suite struct SignedNoteTests {
  private let key: SigningKey
  private let other: SigningKey
  private let text = "first line\n\nthird line\n"

  init() throws {
    key = SigningKey.generate(try #require(Origin("maps.example.com/world")))
    other = SigningKey.generate(try #require(Origin("maps.example.com/other")))
  }

  private func verify(_ bytes: [UInt8], _ keys: [NoteKey]) -> FailureCategory? {
    category { () throws(FetchFailure) in _ = try SignedNote(bytes).verify(keys) }
  }

  /// The id and signature of a signature line.
  private func payload(_ line: String) throws -> [UInt8] {
    let word = try #require(line.split(separator: " ").last)
    return try #require(Base64.decode(word.dropLast()))
  }

  @Test func `what was signed verifies, with its text and signers`() throws {
    let bytes = SignedNote.sign(text: text, keys: [key, other])
    let note = try SignedNote(bytes).verify([other.key, key.key])
    #expect(note.text == text)
    #expect(note.lines == ["first line", "", "third line"])
    #expect(note.signers == [other.key, key.key])
    #expect(note.bytes == bytes)
    #expect(note.note.isSigned(by: key.key) && note.note.isSigned(by: other.key))
  }

  @Test func `one trusted signer is enough, none is refused`() throws {
    let bytes = SignedNote.sign(text: text, keys: [key])
    #expect(try SignedNote(bytes).verify([other.key, key.key]).signers == [key.key])
    #expect(verify(bytes, [other.key]) == .unknownKey)
    #expect(verify(bytes, []) == .unknownKey)
    #expect(try SignedNote(bytes).isSigned(by: other.key) == false)
  }

  @Test func `a refusal is short, whatever names the lines of signatures have`() throws {
    let name = String(repeating: "n", count: 30_000)
    let line = "— \(name) \(Base64.encode([UInt8](repeating: 1, count: 68)))\n"
    let note = try SignedNote(SignedNote.sign(text: text, keys: [key]) + Array(line.utf8))
    let refusal = #expect(throws: FetchFailure.self) { try note.verify([other.key]) }
    #expect(try #require(refusal).message.utf8.count < 1_000)
  }

  @Test func `every flipped bit of a note is refused`() throws {
    let bytes = SignedNote.sign(text: "a text\n", keys: [key])
    for bit in 0..<bytes.count * 8 {
      var wrong = bytes
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(verify(wrong, [key.key]) != nil, "bit \(bit)")
    }
  }

  @Test func `every shortened note is refused`() {
    let bytes = SignedNote.sign(text: text, keys: [key])
    for length in 0..<bytes.count {
      #expect(verify(Array(bytes.prefix(length)), [key.key]) == .noteMalformed)
    }
  }

  @Test func `a broken line of a known key refuses a note that another one signed`() throws {
    let broken = SignedNote.sign(text: "another text\n", keys: [key])
    let line = try #require(String(decoding: broken, as: UTF8.self).split(separator: "\n").last)
    let bytes = SignedNote.sign(text: text, keys: [other]) + Array("\(line)\n".utf8)
    #expect(verify(bytes, [other.key]) == nil)
    #expect(verify(bytes, [key.key, other.key]) == .badSignature)
    #expect(verify(bytes, [other.key, key.key]) == .badSignature)
  }

  @Test func `the same known key twice is refused`() throws {
    let bytes = SignedNote.sign(text: text, keys: [other, key, key])
    #expect(verify(bytes, [key.key]) == .noteMalformed)
    #expect(try SignedNote(bytes).isSigned(by: key.key) == false)
  }

  @Test func `a hundred signatures are read, one more is refused`() {
    let line = key.signatureLine(text: text).replacing("maps.", with: "maps2.")
    let own = key.signatureLine(text: text)
    func note(_ unknown: Int) -> [UInt8] {
      Array((text + "\n" + String(repeating: line, count: unknown) + own).utf8)
    }
    #expect(verify(note(99), [key.key]) == nil)
    #expect(verify(note(100), [key.key]) == .noteMalformed)
  }

  @Test func `a key whose name or id differs is another key`() throws {
    let line = key.signatureLine(text: text)
    let renamed = Array((text + "\n" + line.replacing("world", with: "earth")).utf8)
    #expect(verify(renamed, [key.key]) == .unknownKey)
    let bytes = try payload(line)
    let wrongID = Base64.encode([bytes[0] ^ 1] + bytes.dropFirst())
    let note = Array("\(text)\n\u{2014} \(key.key.name) \(wrongID)\n".utf8)
    #expect(verify(note, [key.key]) == .unknownKey)
  }

  /// To String the two names are equal.
  @Test func `a name in another Unicode form is another name`() throws {
    let composed = try #require(NoteKey(name: "caf\u{E9}", publicKey: key.key.publicKey))
    let id = (0..<4).map { UInt8(truncatingIfNeeded: composed.id >> UInt32(24 - 8 * $0)) }
    let line = key.signatureLine(text: text)
    let signature = try payload(line).dropFirst(4)
    func note(_ name: String) -> [UInt8] {
      Array("\(text)\n\u{2014} \(name) \(Base64.encode(id + signature))\n".utf8)
    }
    #expect(verify(note("caf\u{E9}"), [composed]) == nil)
    #expect(verify(note("cafe\u{301}"), [composed]) == .unknownKey)
  }

  @Test func `only well-formed key lines of an unverified text are shown`() throws {
    let text = "head\nkey \(other.key)\nkey nonsense\nkeys \(key.key)\n key \(key.key)\n"
    let note = try SignedNote(SignedNote.sign(text: text, keys: [key]))
    #expect(note.unverifiedKeys == [other.key])
  }

  @Test func `a witness signs time and text, and nothing else verifies`() throws {
    let seed = [UInt8](repeating: 7, count: 32)
    let witness = try #require(
      NoteKey(
        name: "witness.example.com", algorithm: .cosignature,
        publicKey: Ed25519.publicKey(seed: seed)))
    #expect(NoteKey(witness.description) == witness)
    #expect(witness.origin == nil)
    func note(_ message: String, time: [UInt8]) -> [UInt8] {
      let id = (0..<4).map { UInt8(truncatingIfNeeded: witness.id >> UInt32(24 - 8 * $0)) }
      let bytes = id + time + Ed25519.sign(Array(message.utf8), seed: seed)
      return Array("\(text)\n\u{2014} \(witness.name) \(Base64.encode(bytes))\n".utf8)
    }
    let time: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 2]
    let good = note("cosignature/v1\ntime 258\n\(text)", time: time)
    #expect(verify(good, [witness]) == nil)
    #expect(Cosignature(try SignedNote(good).signatures[0])?.timestamp == 258)
    #expect(verify(note(text, time: time), [witness]) == .badSignature)
    #expect(
      verify(note("cosignature/v1\ntime 259\n\(text)", time: time), [witness]) == .badSignature)
    #expect(verify(note("cosignature/v1\ntime 258\n\(text)", time: []), [witness]) == .badSignature)
  }
}
