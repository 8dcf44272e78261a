import Foundation
import System
import Testing

/// Passwords, tokens and queries are used, and never shown or kept.
@Suite struct SecretTests {
  static let secrets = ["passw0rd-in-url", "t0ken-in-query", "b3arer-in-header", "s3cret-in-file"]

  /// Fails if a secret is in what was said, or anywhere below the directories.
  static func expectNoSecret(
    _ outcome: Outcome, _ directories: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var texts = [("the output", outcome.output), ("the errors", outcome.error)]
    for directory in directories {
      let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
      for name in names ?? [] {
        let path = "\(directory)/\(name)"
        guard let status = Disk.status(path), status.st_mode & S_IFMT == S_IFREG else { continue }
        texts.append((path, String(decoding: try Disk.read(path), as: UTF8.self)))
      }
    }
    for secret in secrets {
      for (name, text) in texts {
        #expect(!text.contains(secret), "\(secret) is in \(name)", sourceLocation: sourceLocation)
      }
    }
  }

  static func arguments(_ bench: Workbench, _ more: [String]) throws -> [String] {
    let file = try bench.scratch.write("header", Array("X-Token: s3cret-in-file\n".utf8))
    let base = bench.server.base.replacing("http://", with: "http://user:passw0rd-in-url@")
    return [
      "pull", "\(base)manifest?key=t0ken-in-query", "--key", bench.site.key, "-d",
      bench.directory, "--header", "Authorization: Bearer b3arer-in-header", "--header", "@\(file)",
      "--give-up-after", "1",
    ] + more
  }

  enum Trouble: String, Sendable, CaseIterable {
    case none, notFound, serverError, html, reset, redirect, badBlock, badTile, gone, noRanges
  }

  @Test(
    "whatever goes wrong, no secret is shown or kept", arguments: Trouble.allCases,
    ["--json", "--verbose"])
  func shown(_ trouble: Trouble, _ mode: String) throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(100_000))
    let origin = try bench.origin()
    let paths = ContentFaultTests.Place.allCases.map { $0.path(release) }
    origin.bend { request, response in
      switch trouble {
      case .none, .gone: break
      case .notFound: response = OriginResponse(404, Array(request.target.utf8))
      case .serverError: response = OriginResponse(503, Array(request.target.utf8))
      case .html: response = OriginResponse(200, Array(request.target.utf8), type: "text/html")
      case .reset: (response.limit, response.ending) = (0, .reset)
      case .redirect:
        response = OriginResponse(302, [])
        response["Location"] = "ftp://user:passw0rd-in-url@127.0.0.1\(request.target)"
      case .badBlock: if request.path == paths[1] { response.bytes[0] ^= 1 }
      case .badTile: if request.path == paths[2] { response.bytes[0] ^= 1 }
      case .noRanges: if request.path == paths[1] { response = .whole(release) }
      }
    }
    if trouble == .gone { origin.stop() }
    let outcome = try bench.fetchres.run(Self.arguments(bench, [mode]))
    #expect((outcome.exitCode == 0) == [.none, .noRanges].contains(trouble))
    if trouble != .gone {
      // They were used: otherwise this shows nothing.
      let first = try #require(origin.entries.first?.request)
      #expect(first.target.contains("t0ken-in-query"))
      #expect(first.fields["authorization"] == "Bearer b3arer-in-header")
      #expect(first.fields["x-token"] == "s3cret-in-file")
    }
    try Self.expectNoSecret(
      outcome, bench.directory, bench.scratch("state"), bench.scratch("config"))
  }

  @Test("the password of the URL is sent where no other is given")
  func userinfo() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let base = bench.server.base.replacing("http://", with: "http://user:passw0rd-in-url@")
    let outcome = try bench.fetchres.run([
      "pull", "\(base)manifest", "--key", bench.site.key, "-d", bench.directory, "-v",
    ])
    outcome.expect(0)
    let sent = try bench.origin().entries.map(\.request.fields["authorization"])
    let right = "Basic " + Data("user:passw0rd-in-url".utf8).base64EncodedString()
    #expect(sent.count >= 3 && sent.allSatisfy { $0 == right })
    try Self.expectNoSecret(outcome, bench.directory, bench.scratch("state"))
  }

  @Test("who showed a checkpoint is kept without the secrets of the URL")
  func ingested() throws {
    let bench = try IntegrityTests.pulled()
    let base = bench.server.base.replacing("http://", with: "http://user:passw0rd-in-url@")
    let words = ["integrity", "ingest", "\(base)checkpoint?key=t0ken-in-query"]
    let before = try IntegrityTests.integrity(bench).output
    let same = try bench.fetchres.run(words)
    same.expect(0)
    // A site that was pulled from is no witness for itself.
    #expect(try IntegrityTests.integrity(bench).output == before)
    try bench.site.publish(randomBytes(1_000), version: "v2")
    let newer = try bench.fetchres.run(words)
    newer.expect(0)
    #expect(newer.output.hasPrefix("ahead: "))
    for outcome in [same, newer, try bench.pull("--verbose")] {
      try Self.expectNoSecret(outcome, bench.scratch("state"))
    }
  }

  @Test("without a key, with a wrong key, with a lock: no secret either")
  func refused() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    var arguments = try Self.arguments(bench, ["--json"])
    let key = try #require(arguments.firstIndex(of: "--key"))
    arguments.removeSubrange(key...key + 1)
    let noKey = try bench.fetchres.run(arguments)
    noKey.expect(5)
    try Self.expectNoSecret(noKey, bench.scratch("state"))
    let wrong = try bench.fetchres.run(
      arguments + ["--key", try KeyTests.otherKey(bench, "example.org/thing")])
    wrong.expect(5)
    try Self.expectNoSecret(wrong, bench.scratch("state"))
  }

  @Test(
    "a URL that is refused is not shown with its secrets",
    arguments: [
      "ftp://user:passw0rd-in-url@example.org/manifest?x=t0ken-in-query",
      "http://user:passw0rd-in-url@exa mple.org/manifest?x=t0ken-in-query",
      "http://user:passw0rd-in-url@/manifest#t0ken-in-query",
      "http://user:passw0rd-in-url@example.org:x/manifest",
      "user:passw0rd-in-url@example.org/manifest",
      "http://user:pass/passw0rd-in-url@example.org/manifest",
      "http://user:passw0rd-in-url?x@exa mple.org/manifest",
      "http://user:x?passw0rd-in-url@exa mple.org/manifest",
      "http://exa mple.org/manifest?mail=a@t0ken-in-query",
      "//user:passw0rd-in-url@example.org/manifest",
      "http:/user:passw0rd-in-url@example.org/manifest",
      "http://example.org\\@user:passw0rd-in-url@x/?t0ken-in-query",
    ])
  func refusedURL(_ url: String) throws {
    let bench = try Workbench()
    for mode in ["--json", "--verbose"] {
      let outcome = try bench.fetchres.run([
        "pull", url, "--key", bench.site.key, mode, "--give-up-after", "1", "--connect-timeout",
        "1", "-d", bench.directory,
      ])
      #expect(outcome.exitCode != 0)
      try Self.expectNoSecret(outcome, bench.scratch("state"))
    }
  }

  @Test(
    "a URL in the place of something else is not shown with its secrets either",
    arguments: [
      ["URL"], ["keygen", "URL"], ["mirror", "add", "URL", "example.org/thing"],
      ["mirror", "URL", "example.org/thing"], ["trust", "add", "URL"], ["integrity", "URL"],
      ["pull", "http://127.0.0.1:9/manifest", "--origin=URL"],
      ["pull", "http://127.0.0.1:9/manifest", "--json", "--connections", "URL"],
      ["proof", "make", "URL", "v1", "0"], ["status", "URL"],
      ["publish", "FILE", "--site", "SITE", "--key", "KEY", "--version", "v2", "--mirror", "URL"],
      ["publish", "--refresh", "--site", "SITE", "--key", "KEY", "--mirror=URL"],
      ["publish", "FILE", "--site", "SITE", "--key", "KEY", "--version", "URL"],
    ])
  func misplacedURL(_ words: [String]) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let file = try bench.scratch.write("file", [1])
    for url in [
      "http://user:passw0rd-in-url@h/", "http://h/?x=t0ken-in-query",
      "http://user:passw0rd-in-url 'x@h/",
    ] {
      let outcome = try bench.fetchres.run(
        words.map {
          $0.replacing("URL", with: url).replacing("SITE", with: bench.site.path)
            .replacing("KEY", with: bench.site.keyFile).replacing("FILE", with: file)
        })
      #expect(outcome.exitCode != 0)
      try Self.expectNoSecret(outcome, bench.scratch("state"))
    }
  }

  @Test(
    "a header that is refused is not shown",
    arguments: ["b3arer-in-header", "A: b3arer-in-header\u{7}", ": b3arer-in-header"])
  func refusedHeader(_ header: String) throws {
    let bench = try Workbench()
    let outcome = try bench.pull("--header", header)
    outcome.expectRefusal(2, "--header")
    try Self.expectNoSecret(outcome, bench.scratch("state"))
  }

  @Test(
    "a header that the transfer itself sends is refused, however it is written",
    arguments: [
      "Range", "range", "Content-Length", "Host", "HOST", "Accept-Encoding", "Transfer-Encoding",
    ])
  func ownedHeader(_ name: String) throws {
    let bench = try Workbench()
    let file = try bench.scratch.write("header", Array("\(name):b3arer-in-header\n".utf8))
    for header in ["\(name): b3arer-in-header", "\(name):", "@\(file)"] {
      let outcome = try bench.pull("--header", header)
      outcome.expectRefusal(2, "--header takes no '\(name.lowercased())'")
      try Self.expectNoSecret(outcome, bench.scratch("state"))
    }
    // A space would hide the name from us and not from the server.
    try bench.pull("--header", "\(name) : x").expectRefusal(2, "--header takes 'Name: value'")
    #expect(try bench.origin().entries.isEmpty)
  }

  @Test("a secret on the command line is taken with a warning, one from a file without")
  func warning() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let loud = try bench.pull("--header", "Authorization: Bearer b3arer-in-header")
    loud.expect(0)
    #expect(loud.error.contains("warning: a secret on the command line can be seen by others"))
    let file = try bench.scratch.write("header", Array("Authorization: s3cret-in-file".utf8))
    let quiet = try bench.pull("--header", "@\(file)", "--header", "Accept-Language: en")
    quiet.expect(0)
    #expect(!quiet.error.contains("warning"))
  }

  private func warnings(_ outcome: Outcome) -> Int {
    outcome.error.components(separatedBy: "warning: a secret on the command line").count - 1
  }

  @Test(
    "a URL with a password or a query is taken with one warning, whatever the command",
    arguments: [
      ["pull", "URL", "--key", "VKEY", "-d", "DIR"], ["inspect", "URL"],
      ["integrity", "ingest", "URL"],
      ["publish", "--check", "URL", "--site", "SITE"],
      ["publish", "--recover=URL", "--site", "SITE", "--key", "KEY"],
      ["pull", "PLAIN", "--key", "VKEY", "-d", "DIR", "--mirror", "URL", "--mirror", "URL"],
    ])
  func secretURL(_ words: [String]) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let plain = bench.server.base + "manifest"
    let urls = [
      plain.replacing("http://", with: "http://user:passw0rd-in-url@"),
      plain + "?x=t0ken-in-query",
    ]
    for url in urls + [plain] {
      let outcome = try bench.fetchres.run(
        words.map {
          $0.replacing("URL", with: url).replacing("PLAIN", with: plain)
            .replacing("SITE", with: bench.site.path).replacing("DIR", with: bench.directory)
            .replacing("VKEY", with: bench.site.key).replacing("KEY", with: bench.site.keyFile)
        })
      #expect(warnings(outcome) == (url == plain ? 0 : 1), "\(outcome.testDescription)")
      try Self.expectNoSecret(outcome, bench.scratch("state"))
    }
  }

  @Test(
    "a header whose name speaks of a secret is taken with a warning",
    arguments: [
      "X-Auth", "x-api-PASSWORD", "X-Pass", "Api-Key", "X-Secret-Thing", "Cookie", "X-Credentials",
      "X-Session", "X-Amz-Signature", "X-Amz-Security-Token",
    ])
  func secretHeader(_ name: String) throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    #expect(warnings(try bench.pull("--header", "\(name): b3arer-in-header")) == 1)
  }
}
