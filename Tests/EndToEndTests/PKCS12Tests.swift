import System
import Testing

/// PKCS#12 files as the `openssl` command makes them: each gives its own outcome, and refusals leave
/// nothing behind.
@Suite(.enabled(if: CertificateDesk.isAvailable, CertificateDesk.need))
struct PKCS12Tests {
  let desk: CertificateDesk
  let fetchres: Fetchres

  init() throws {
    desk = try CertificateDesk()
    fetchres = Fetchres(desk.scratch)
    try desk.issue("me", by: "middle", subject: "/O=Example/CN=me")
  }

  func take(
    _ file: String, _ password: String? = nil, _ more: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    try fetchres.run(
      ["identity", "import", file, "--name", "me", "--password-file"]
        + [try password ?? desk.password()] + more, sourceLocation: sourceLocation)
  }

  func show() throws -> String { try fetchres.run("identity", "show", "--json").output }

  /// Fails unless the import is refused in these words, and nothing is stored.
  func expectRefused(
    _ outcome: Outcome, _ words: String, code: Int32 = 2,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    outcome.expectRefusal(code, words, sourceLocation: sourceLocation)
    #expect(!outcome.error.contains("s3cret"), sourceLocation: sourceLocation)
    #expect(try show().isEmpty, sourceLocation: sourceLocation)
  }

  @Test(
    "what openssl makes today is taken in",
    arguments: [
      [], ["-keypbe", "NONE", "-certpbe", "NONE"], ["-macalg", "sha1"], ["-macalg", "sha256"],
      ["-macalg", "sha512"], ["-keypbe", "aes-128-cbc", "-certpbe", "aes-128-cbc"],
      ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES"], ["-noiter", "-nomaciter"],
      ["-name", "friendly", "-LMK"],
    ])
  func today(_ options: [String]) throws {
    let file = try desk.export("me", options)
    try take(file).expect(0)
    #expect(try show().contains(#""subject":"O = Example, CN = me""#))
    try expectWrong(file)
  }

  private func expectWrong(
    _ file: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try fetchres.run("identity", "clear", "me").expect(0)
    try expectRefused(
      try take(file, try desk.password("nope")), "the password of \(file) is wrong",
      sourceLocation: sourceLocation)
  }

  @Test("a cipher that is not loaded is named, once the password is known to be right")
  func legacy() throws {
    let file = try desk.export("me", ["-legacy"])
    try expectRefused(try take(file), "RC2-40-CBC, a legacy cipher that this OpenSSL does not load")
    try expectRefused(try take(file, try desk.password("nope")), "is wrong")
    // The way out that is shown leads out.
    try desk.openssl([
      "pkcs12", "-legacy", "-in", file, "-nodes", "-out", "plain.pem", "-passin", "pass:s3cret",
      "--", "pkcs12", "-export", "-in", "plain.pem", "-out", "new.p12", "-passout", "pass:s3cret",
    ])
    try take(desk("new.p12")).expect(0)
  }

  @Test("a file without a MAC is refused before anybody is asked, and is no wrong password")
  func withoutMAC() throws {
    let file = try desk.export("me", ["-nomac"])
    for _ in 0..<4 {
      let outcome = try take(file, try desk.password("nope"))
      try expectRefused(outcome, "has no MAC")
      #expect(!outcome.error.contains("wrong password"))
    }
    try desk.openssl([
      "pkcs12", "-in", file, "-nodes", "-nomacver", "-out", "plain.pem", "-passin", "pass:s3cret",
      "--", "pkcs12", "-export", "-in", "plain.pem", "-out", "new.p12", "-passout", "pass:s3cret",
    ])
    try take(desk("new.p12")).expect(0)
  }

  @Test("an empty password opens a file, and stores its key only without one")
  func empty() throws {
    let file = try desk.export("me", password: "")
    try expectRefused(try take(file, try desk.password("")), "has no password")
    let outcome = try take(file, try desk.password(""), "--no-password")
    outcome.expect(0)
    #expect(outcome.error.contains("stored without a password"))
  }

  @Test(
    "a password with other letters opens in whatever coding it was written",
    arguments: [Array("pässwörd".utf8), [0x70, 0xE4, 0x73, 0x73, 0x77, 0xF6, 0x72, 0x64]],
    [Array("pässwörd".utf8), [0x70, 0xE4, 0x73, 0x73, 0x77, 0xF6, 0x72, 0x64]])
  func letters(_ written: [UInt8], _ given: [UInt8]) throws {
    let password = try desk.password(written, "written")
    try desk.openssl([
      "pkcs12", "-export", "-in", "me.pem", "-inkey", "me.key", "-out", "me.p12", "-passout",
      "file:\(password)",
    ])
    try take(desk("me.p12"), try desk.password(given, "given")).expect(0)
  }

  @Test("two certificates and no key are no identity")
  func noKey() throws {
    try desk.openssl([
      "pkcs12", "-export", "-nokeys", "-in", "me.pem", "-certfile", "middle.pem", "-passout",
      "pass:s3cret", "-out", "me.p12",
    ])
    try expectRefused(try take(desk("me.p12")), "holds no private key")
  }

  @Test("a key without its certificate, or with that of another, is no identity")
  func noCertificate() throws {
    try desk.openssl([
      "pkcs12", "-export", "-nocerts", "-inkey", "me.key", "-passout", "pass:s3cret", "-out",
      "me.p12",
    ])
    try expectRefused(try take(desk("me.p12")), "a private key and no certificate")
    try desk.issue("other", by: "root")
    try desk.openssl([
      "pkcs12", "-export", "-nokeys", "-in", "other.pem", "-passout", "pass:s3cret", "-out",
      "other.p12",
    ])
    try expectRefused(try take(desk("other.p12")), "holds no private key")
  }

  @Test("a chain of three is stored in order, without its root")
  func chain() throws {
    let file = try desk.export("me", chain: ["root", "middle"])
    try take(file).expect(0)
    let shown = try show()
    let middle = try #require(shown.range(of: #""subject":"CN = middle""#))
    let own = try #require(shown.range(of: #""subject":"O = Example, CN = me""#))
    #expect(own.lowerBound < middle.lowerBound)
    #expect(!shown.contains(#""subject":"CN = root""#))
  }

  @Test("whatever is cut off a file, it is damaged, and never a wrong password")
  func truncated() throws {
    let bytes = try Disk.read(try desk.export("me"))
    for count in [0, 1, 4, 100, bytes.count / 2, bytes.count - 1] {
      let file = try desk.scratch.write("cut.p12", Array(bytes.prefix(count)))
      try expectRefused(try take(file), "is damaged, or no PKCS#12 file")
    }
  }

  @Test("damage behind the MAC is seen by the MAC")
  func flipped() throws {
    let file = try desk.export("me")
    try Disk.flip(file, at: 700)
    let outcome = try take(file)
    let shown = try show()
    #expect(outcome.exitCode == 2 && shown.isEmpty, "\(outcome.testDescription)")
  }

  @Test("a PEM text is called that, whatever its name says")
  func pem() throws {
    let file = try desk.scratch.write(
      "me.p12", try Disk.read(desk("me.pem")) + Disk.read(desk("me.key")))
    try expectRefused(try take(file), "is a PEM text")
  }

  @Test("a file beyond a mebibyte is not read")
  func large() throws {
    let file = desk("large.p12")
    try Disk.truncate(file, to: (1 << 20) + 1)
    try expectRefused(try take(file), "more than 1048576 bytes")
  }

  @Test("an expired certificate, and one of the future, are refused by the local clock")
  func dates() throws {
    try desk.sign("me", by: "middle", extensions: nil, days: -1)
    let expired = try take(try desk.export("me"))
    try expectRefused(expired, "expired at", code: 5)
    #expect(expired.error.contains("the local clock says 2"))
    try desk.signForFuture("me", by: "middle")
    let early = try take(try desk.export("me"))
    try expectRefused(early, "is valid from 2100-01-01T00:00:00Z", code: 5)
    #expect(early.error.contains("the local clock says 2"))
  }

  @Test("a directory, a pipe that is not there and a name that is none are said to be that")
  func names() throws {
    try expectRefused(try take(desk("no.p12")), "there is no file")
    try expectRefused(try take(desk.scratch.path), "cannot read", code: 6)
    let file = try desk.export("me")
    let arguments = ["identity", "import", file, "--password-file", try desk.password()]
    for name in ["", ".", "..", "a/b", "-x", ".x", "ä", String(repeating: "a", count: 65)] {
      try expectRefused(try fetchres.run(arguments + ["--name=\(name)"]), "is no name")
    }
  }
}
