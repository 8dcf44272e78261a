import Testing

@Suite struct KeygenTests {
  let scratch: Scratch
  let fetchres: Fetchres

  init() throws {
    scratch = try Scratch()
    fetchres = Fetchres(scratch)
  }

  @Test("a key is written for its owner alone, and its public half is all that is shown")
  func makes() throws {
    let outcome = try fetchres.run(["keygen", "example.org/thing"], in: scratch.path)
    outcome.expect(0)
    let file = scratch("thing.key")
    #expect(Disk.permissions(file) == 0o600)
    let secret = String(decoding: try Disk.read(file), as: UTF8.self)
    #expect(secret.hasPrefix("PRIVATE+KEY+example.org/thing+") && secret.hasSuffix("\n"))
    #expect(
      outcome.line.hasPrefix("example.org/thing+") && outcome.line.split(separator: "+").count >= 3)
    #expect(outcome.output.split(separator: "\n").count == 1)
    // Name and id are common to both; the rest is nobody's business.
    // The seed is base64, in which there may be further signs of plus.
    let words = secret.dropLast().split(separator: "+", maxSplits: 4)
    let (id, seed) = (words[3], words[4])
    #expect(outcome.line.split(separator: "+")[1] == id)
    #expect(!outcome.error.contains(seed) && !outcome.output.contains(seed))
    #expect(Disk.names(in: scratch.path) == ["thing.key", "thing.key.head"])
    #expect(Disk.permissions(scratch("thing.key.head")) == 0o600)
  }

  @Test("two keys are never the same")
  func differ() throws {
    let one = try fetchres.run("keygen", "example.org/thing", "--out", scratch("1"))
    let other = try fetchres.run("keygen", "example.org/thing", "--out", scratch("2"))
    #expect(one.line != other.line && one.exitCode == 0 && other.exitCode == 0)
  }

  @Test("a key file is never overwritten", arguments: ["--out", "--next"])
  func neverOverwrites(_ option: String) throws {
    let file = try scratch.write("there.key", Array("mine\n".utf8))
    let arguments =
      option == "--out"
      ? ["--out", file] : ["--out", scratch("new.key"), "--next", file]
    try fetchres.run(["keygen", "example.org/thing"] + arguments)
      .expectRefusal(2, "is there already", "a key is never overwritten")
    #expect(try Disk.read(file) == Array("mine\n".utf8))
    // Nor is one of two made.
    #expect(!Disk.exists(scratch("new.key")))
    try fetchres.run("keygen", "a.example/b", "--out", scratch("1.key"), "--next", scratch("1.key"))
      .expectRefusal(2, "is there already")
    #expect(!Disk.exists(scratch("1.key")))
  }

  @Test("a link in the place of a key file is not followed")
  func link() throws {
    try Disk.link(scratch("new.key"), to: scratch("elsewhere"))
    try fetchres.run("keygen", "example.org/thing", "--out", scratch("new.key")).expectRefusal(2)
    #expect(!Disk.exists(scratch("elsewhere")))
  }

  @Test("--next makes the key that follows, to be announced")
  func next() throws {
    let outcome = try fetchres.run(
      "keygen", "example.org/thing", "--out", scratch("1.key"), "--next", scratch("2.key"))
    outcome.expect(0)
    #expect(Disk.permissions(scratch("2.key")) == 0o600)
    #expect(outcome.error.contains("--next-key example.org/thing+"))
    #expect(outcome.output.split(separator: "\n").count == 1)
  }

  @Test("a directory that is not there is said to be that")
  func noDirectory() throws {
    try fetchres.run("keygen", "example.org/thing", "--out", scratch("no/1.key"))
      .expectRefusal(6, "cannot write the key file", "no such file or directory")
  }

  @Test(
    "what is no origin is refused",
    arguments: [
      "", "Example.org", "a//b", "/a", "a/", "a/.b", "a/-b", ".a", "a b", "a+b", "ä.org",
      String(repeating: "a", count: 201),
    ])
  func origins(_ origin: String) throws {
    try fetchres.run(["keygen", "--", origin], in: scratch.path).expectRefusal(2, "is no origin")
    #expect(Disk.names(in: scratch.path).isEmpty)
  }
}
