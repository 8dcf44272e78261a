import System
import Testing

/// Which keys and which origin a pull believes.
@Suite struct KeyTests {
  static func published() throws -> (Workbench, Release) {
    let bench = try Workbench()
    return (bench, try bench.site.publish(randomBytes(100_000)))
  }

  /// A second key, of this name.
  static func otherKey(_ bench: Workbench, _ origin: String) throws -> String {
    let outcome = try bench.fetchres.run(
      "keygen", origin, "--out", bench.scratch("other-\(UInt32.random(in: 0 ... .max)).key"))
    outcome.expect(0)
    return outcome.line
  }

  static func pulling(_ bench: Workbench, _ more: [String]) -> [String] {
    ["pull", bench.server.base + "manifest", "-d", bench.directory, "--json"] + more
  }

  @Test("without a key the run ends with 5; the hint shows the server's key as unverified")
  func noKey() throws {
    let (bench, _) = try Self.published()
    let outcome = try bench.fetchres.run(Self.pulling(bench, []))
    try outcome.expectFailure(
      "unknown-key", 5, "no key is trusted", "nothing has verified", "--key \(bench.site.key)")
    #expect(try bench.origin().entries.map(\.request.path) == ["/manifest"])
    // Nothing of it is kept.
    #expect(!Disk.exists(bench.directory))
    #expect(Disk.names(in: bench.scratch("state")).isEmpty)
  }

  @Test("without a key and offline nobody is asked")
  func noKeyOffline() throws {
    let (bench, _) = try Self.published()
    let outcome = try bench.fetchres.run(Self.pulling(bench, ["--offline"]))
    try outcome.expectFailure("unknown-key", 5, "no key is trusted")
    #expect(!outcome.error.contains(bench.site.key))
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test("the hint shows no key that does not parse, and nothing else that the server says")
  func noKeyAndANoisyServer() throws {
    let (bench, _) = try Self.published()
    let forged = String(decoding: try bench.site.manifest(), as: UTF8.self)
      .replacing("key \(bench.site.key)", with: "key run-this+00000000+\u{7}rm")
    try bench.origin().bend { _, response in response.replaceBody(Array(forged.utf8)) }
    let outcome = try bench.fetchres.run(Self.pulling(bench, []))
    try outcome.expectFailure("unknown-key", 5, "get the public key from the publisher")
    #expect(!outcome.error.contains("run-this") && !outcome.error.contains("\u{7}"))
  }

  @Test("without a key and without a server the hint does without")
  func noKeyNoServer() throws {
    let (bench, _) = try Self.published()
    try bench.origin().stop()
    let outcome = try bench.fetchres.run(Self.pulling(bench, ["--origin", "example.org/thing"]))
    try outcome.expectFailure(
      "unknown-key", 5, "no key is trusted for example.org/thing", "get the public key")
  }

  @Test("another key of the same name signs nothing that counts")
  func wrongKey() throws {
    let (bench, release) = try Self.published()
    let other = try Self.otherKey(bench, "example.org/thing")
    let outcome = try bench.fetchres.run(Self.pulling(bench, ["--key", other]))
    outcome.expect(5)
    #expect(try ["unknown-key", "bad-signature"].contains(outcome.last().category))
    #expect(try bench.origin().count(of: release.dataPath) == 0)
    #expect(!Disk.exists(bench.directory))
    // With the right one beside it, all is well.
    try bench.fetchres.run(Self.pulling(bench, ["--key", other, "--key", bench.site.key])).expect(0)
  }

  @Test("the key of another resource does not open this one")
  func keyOfAnother() throws {
    let (bench, release) = try Self.published()
    let other = try Self.otherKey(bench, "example.org/other")
    let outcome = try bench.fetchres.run(Self.pulling(bench, ["--key", other]))
    outcome.expect(5)
    #expect(try ["unknown-key", "origin-mismatch"].contains(outcome.last().category))
    #expect(try bench.origin().count(of: release.dataPath) == 0)
  }

  // covers: F32
  @Test("a genuine manifest of another resource at this URL is refused")
  func manifestOfAnother() throws {
    let (bench, release) = try Self.published()
    let other = try Site(bench.fetchres, at: bench.scratch("other"), origin: "example.org/other")
    try other.publish(randomBytes(100_000))
    let manifest = try other.manifest()
    try bench.origin().bend { request, response in
      if request.path == "/manifest" { response.replaceBody(manifest) }
    }
    let outcome = try bench.pull("--json")
    outcome.expect(5)
    #expect(try ["unknown-key", "origin-mismatch"].contains(outcome.last().category))
    #expect(try bench.origin().count(of: release.dataPath) == 0)
    #expect(!Disk.exists(bench.directory))
  }

  @Test("keys of different names, and a name against a key, are refused before anything is asked")
  func namesDisagree() throws {
    let (bench, _) = try Self.published()
    let other = try Self.otherKey(bench, "example.org/other")
    for arguments in [
      ["--key", bench.site.key, "--key", other],
      ["--key", bench.site.key, "--origin", "example.org/other"],
    ] {
      let outcome = try bench.fetchres.run(Self.pulling(bench, arguments))
      try outcome.expectFailure("usage", 2, "example.org/thing", "example.org/other")
    }
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test(
    "a directory of another resource is refused, with a hint", arguments: ["--key", "--origin"])
  func directoryOfAnother(_ option: String) throws {
    let (bench, release) = try Self.published()
    try bench.pull().expect(0)
    try bench.origin().forget()
    let value =
      option == "--key" ? try Self.otherKey(bench, "example.org/other") : "example.org/other"
    let outcome = try bench.fetchres.run(Self.pulling(bench, [option, value]))
    try outcome.expectFailure("usage", 2, "belongs to example.org/thing", "hint: ", "-d")
    #expect(try bench.origin().entries.isEmpty)
    try bench.expectComplete(release)
  }

  @Test("keys come from files too, one a line")
  func keyFiles() throws {
    let (bench, release) = try Self.published()
    let other = try Self.otherKey(bench, "example.org/thing")
    let file = try bench.scratch.write("keys", Array("\n\(other)\n  \(bench.site.key)  \n".utf8))
    try bench.fetchres.run(Self.pulling(bench, ["--key", "@\(file)"])).expect(0)
    try bench.expectComplete(release)
    let empty = try bench.scratch.write("empty", [0x0A])
    try bench.fetchres.run(
      Self.pulling(bench, ["-o", bench.scratch("x"), "--key", "@\(empty)"])
    ).expect(5)
  }

  // MARK: Notes that are not what was signed

  enum Forgery: String, Sendable, CaseIterable {
    case textChanged, signatureChanged, signatureGone, lineEndings, lastNewlineGone, byteOrderMark
    case twoNotes, empty, lineAdded, unknownFirstLine

    func apply(_ note: String) -> String {
      switch self {
      case .textChanged: note.replacing("\nsize 100000\n", with: "\nsize 100001\n")
      case .signatureChanged: String(note.dropLast(8)) + "AAAA" + note.suffix(4)
      case .signatureGone: String(note.prefix(upTo: note.firstIndex(of: "\u{2014}")!))
      case .lineEndings: note.replacing("\n", with: "\r\n")
      case .lastNewlineGone: String(note.dropLast())
      case .byteOrderMark: "\u{FEFF}" + note
      case .twoNotes: note + "\n" + note
      case .empty: ""
      case .lineAdded: note.replacing("\nfile ", with: "\ncolour red\nfile ")
      case .unknownFirstLine: note.replacing("manifest v1", with: "manifest v2")
      }
    }
  }

  @Test("a manifest that is not the bytes that were signed is refused", arguments: Forgery.allCases)
  func forged(_ forgery: Forgery) throws {
    let (bench, release) = try Self.published()
    let forged = forgery.apply(String(decoding: try bench.site.manifest(), as: UTF8.self))
    try bench.origin().bend { request, response in
      if request.path == "/manifest" { response.replaceBody(Array(forged.utf8)) }
    }
    let outcome = try bench.pull("--json")
    let last = try outcome.last()
    #expect(
      ["note-malformed", "bad-signature", "unknown-key"].contains(last.category),
      "\(outcome.testDescription)")
    #expect([4, 5].contains(outcome.exitCode))
    #expect(try bench.origin().count(of: release.dataPath) == 0)
    #expect(!Disk.exists(bench.directory))
  }
}
