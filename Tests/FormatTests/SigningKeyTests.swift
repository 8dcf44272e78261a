import Crypto
import Failure
import SignedNote
import Testing

@Suite struct SigningKeyTests {
  private let key: SigningKey

  init() throws {
    key = SigningKey.generate(try #require(Origin("maps.example.com/world")))
  }

  @Test func `a secret key is read from its text`() throws {
    let read = try #require(SigningKey(key.secretText))
    #expect(read.key == key.key)
    #expect(read.secretText == key.secretText)
    #expect(read.signatureLine(text: "text\n") == key.signatureLine(text: "text\n"))
    #expect(key.secretText.hasPrefix("PRIVATE+KEY+maps.example.com/world+"))
  }

  @Test func `a public key is read from its text`() throws {
    let read = try #require(NoteKey(key.key.description))
    #expect(read == key.key)
    #expect(read.origin?.name == "maps.example.com/world")
    #expect(NoteKey(key.secretText) == nil)
    #expect(SigningKey(key.key.description) == nil)
  }

  @Test(arguments: [
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
    "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
  ])
  func `keys that others published are read`(text: String) throws {
    #expect(try #require(NoteKey(text)).description == text)
  }

  @Test func `no two keys are the same`() throws {
    let other = SigningKey.generate(try #require(Origin("maps.example.com/world")))
    #expect(other.key.publicKey != key.key.publicKey && other.secretText != key.secretText)
  }

  @Test func `a text with anything around or within it is no secret key`() throws {
    let text = key.secretText
    let base64 = try #require(text.split(separator: "+", maxSplits: 4).last.map(String.init))
    let id = text.split(separator: "+")[3]
    var wrong = [
      " " + text, text + " ", text + "\n", text + "=", String(text.dropLast()), "",
      text.lowercased(), text.replacing("PRIVATE", with: "private"),
      text.replacing("PRIVATE+KEY+", with: "PRIVATE+KEY"),
      text.replacing("KEY+", with: "\u{212A}EY+"),
      text.replacing("world", with: "w0rld"), text.replacing("\(id)", with: id.uppercased() + "A"),
      text.replacing("+\(id)+", with: "+00000000+"),
    ]
    let seed = try #require(Base64.decode(base64))
    wrong.append(text.replacing(base64, with: Base64.encode(seed.dropLast())))
    wrong.append(text.replacing(base64, with: Base64.encode(seed + [0])))
    wrong.append(text.replacing(base64, with: Base64.encode([4] + seed.dropFirst())))
    for text in wrong { #expect(SigningKey(text) == nil) }
  }

  @Test func `nothing that shows a secret key shows its seed`() throws {
    let base64 = try #require(key.secretText.split(separator: "+", maxSplits: 4).last)
    let seed = try #require(Base64.decode(base64)).dropFirst()
    var dumped = ""
    dump([key], to: &dumped)
    struct Holder { let key: SigningKey }
    let shown = [
      "\(key)", String(describing: key), String(reflecting: key), "\([key])", "\(["a": key])",
      "\(Holder(key: key))", String(reflecting: Optional(key)), dumped,
    ]
    for text in shown {
      #expect(text.contains("maps.example.com/world"))
      #expect(!text.contains(base64))
      #expect(!text.contains(Hex.encode(seed)))
      #expect(!text.contains("\(seed.first ?? 0), \(seed.dropFirst().first ?? 0)"))
      #expect(!text.contains("\(Array(seed))") && !text.contains("elements"))
    }
  }
}
