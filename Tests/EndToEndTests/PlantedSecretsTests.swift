import Foundation
import Glibc
import System
import Testing

/// Twelve secrets go through everything that takes one; afterwards, and meanwhile, none is anywhere but
/// where it was planted.
@Suite(.enabled(if: GuardedServer.isAvailable, GuardedServer.need))
struct PlantedSecretsTests {
  let bench: Workbench
  let desk: CertificateDesk
  let secrets: [String]
  let hunt: SecretHunt

  init() throws {
    bench = try Workbench()
    desk = try CertificateDesk()
    // Characters that change when they are percent-encoded, and no two secrets alike.
    secrets = (0..<12).map { "pl4nted/\($0)+\(UInt64.random(in: 0 ... .max))&end" }
    hunt = SecretHunt(secrets)
  }

  /// Secrets as they are written into a URL.
  private func escaped(_ index: Int) -> String {
    secrets[index].addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  private func file(_ text: String) throws -> String {
    try desk.password(text)
  }

  private func expectNone(
    _ found: Set<String>, _ place: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let numbers = found.compactMap { secrets.firstIndex(of: $0) }.sorted()
    #expect(numbers == [], "secrets in \(place)", sourceLocation: sourceLocation)
  }

  /// Runs it to its end and looks at all that it said.
  @discardableResult
  private func run(
    _ arguments: [String], _ code: Int32, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let outcome = try bench.fetchres.run(arguments, sourceLocation: sourceLocation)
    outcome.expect(code, sourceLocation: sourceLocation)
    expectNone(hunt.found(in: outcome), "\(arguments.prefix(2))", sourceLocation: sourceLocation)
    return outcome
  }

  private func expectNothingOnDisk(sourceLocation: SourceLocation = #_sourceLocation) throws {
    // The desk is where secrets are planted; everything of the program lies below the home.
    let found = try hunt.found(below: bench.scratch.path) { _ in false }
    expectNone(found, "files", sourceLocation: sourceLocation)
  }

  @Test("passwords of secret keys", arguments: ["publish", "refresh"])
  func keys(_ mode: String) throws {
    let key = bench.scratch("locked.key")
    try run(["keygen", "example.org/x", "--out", key, "--password-file", file(secrets[0])], 0)
    let input = try bench.scratch.write("input.bin", randomBytes(1_000))
    let site = bench.scratch("locked")
    let publishing = ["publish", input, "--site", site, "--version", "1", "--key", key]
    try run(publishing + ["--password-file", file(secrets[1])], 2)
    try run(publishing + ["--password-file", file(secrets[0])], 0)
    if mode == "refresh" {
      try run(
        [
          "publish", "--refresh", "--site", site, "--key", key, "--password-file", file(secrets[0]),
        ],
        0)
    }
    // A secret key where a public one belongs, or a file.
    let text = try String(decoding: Disk.read(bench.site.keyFile), as: UTF8.self).dropLast()
    let seed = try #require(text.split(separator: "+", maxSplits: 4).last.map(String.init))
    for (arguments, code) in [
      (["pull", bench.server.base, "--key", String(text)], 2),
      (publishing + ["--key", "\(text)"], 2),
      (["publish", "--refresh", "--site", site, "--key", key, "--next-key", "\(text)"], 2),
      (["\(text)"], 2), (["trust", "add", "\(text)"], 2),
    ] as [([String], Int32)] {
      let outcome = try run(arguments, code)
      #expect(!outcome.error.contains(seed) && !outcome.output.contains(seed))
    }
    try expectNothingOnDisk()
  }

  @Test("userinfo, queries, headers and cookies of a pull", arguments: ["--json", "--verbose"])
  func requests(_ mode: String) throws {
    try bench.site.publish(randomBytes(300_000))
    let headers = try desk.scratch.write(
      "headers", Array("X-Token: \(secrets[4])\nCookie: id=\(secrets[5])\n".utf8))
    let base = bench.server.base.replacing(
      "http://", with: "http://\(escaped(2)):\(escaped(3))@")
    let arguments = [
      "pull", "\(base)manifest?key=\(escaped(6))", "--key", bench.site.key, "-d", bench.directory,
      "--header", "Authorization: Bearer \(secrets[7])", "--header", "@\(headers)",
      "--give-up-after", "1", mode,
    ]
    let origin = try bench.origin()
    let number = Monitor<pid_t?>(nil)
    let listed = Monitor<Set<String>>([])
    let (hunt, secrets) = (hunt, secrets)
    origin.bend { request, response in
      if let number = number.wait(until: Clocks.monotonic() + Fetchres.patience, { $0 }) {
        listed.change { $0.formUnion(hunt.found(inProcess: number)) }
      }
      // The server says it all again, in an answer that is wrong.
      if request.path.hasPrefix("/releases") {
        response = OriginResponse(
          403, Array((secrets + [request.target] + request.fields.values).joined().utf8))
      }
    }
    let child = try bench.fetchres.start(arguments)
    number.change { $0 = child.identifier }
    let outcome = try Outcome(of: child)
    outcome.expect(4)
    // They were used: otherwise this shows nothing.
    let first = try #require(origin.entries.first?.request)
    #expect(first.target.contains(escaped(6)) && first.fields["x-token"] == secrets[4])
    #expect(first.fields["cookie"]?.contains(secrets[5]) == true)
    expectNone(listed.look { $0 }, "what others can list")
    expectNone(hunt.found(in: outcome), "the output")
    try expectNothingOnDisk()
  }

  @Test("passwords of identities")
  func identities() throws {
    try desk.issueServer("server")
    try desk.issue("me", by: "root")
    try bench.site.publish(randomBytes(300_000))
    let p12 = try desk.export("me", password: secrets[8])
    let importing = ["identity", "import", p12, "--name", "me", "--password-file"]
    try run(importing + [file(secrets[9])], 2)
    try run(importing + [file(secrets[8])], 0)
    try run(["identity", "show"], 0)
    let server = try GuardedServer(desk, root: bench.site.path)
    let pulling = [
      "pull", "\(server.base())manifest", "--key", bench.site.key, "-d", bench.directory,
      "--cacert", desk("root.pem"), "--identity", "me", "--verbose", "--password-file",
    ]
    try run(pulling + [file(secrets[10])], 2)
    // The last one comes over a descriptor that holds the right password of a second identity.
    let second = try desk.export("me", to: "second.p12", password: secrets[11])
    try run(
      ["identity", "import", second, "--name", "second", "--password-file", file(secrets[11])], 0)
    let child = try bench.fetchres.start(
      pulling + [file(secrets[8]), "--limit-rate", "100K"])
    let isRunning = waitUntil { ((try? server.visits()) ?? []).count > 2 }
    #expect(isRunning)
    expectNone(hunt.found(inProcess: child.identifier), "what others can list")
    // Nor does it end in a core dump. What may be dumped otherwise is up to the shell.
    #expect(hardCoreLimit(child.identifier) == "0")
    #expect(hardCoreLimit(getpid()) != nil)
    let outcome = try Outcome(of: child)
    outcome.expect(0)
    expectNone(hunt.found(in: outcome), "the output")
    withExtendedLifetime(server) {}
    try expectNothingOnDisk()
  }

  @Test(
    "a token or a password of a proxy ends in no core dump, and cannot be listed",
    arguments: [
      ["http://PEER/manifest", "--header", "@FILE"],
      ["http://PEER/manifest", "--header", "X-Token: SECRET"],
      ["http://user:SECRET@PEER/manifest"],
      ["http://h.invalid/manifest", "--proxy", "http://PEER", "--proxy-auth-file", "FILE"],
      ["http://h.invalid/manifest", "--proxy", "user:SECRET@PEER"],
      ["http://h.invalid/manifest", "--proxy=user:SECRET@PEER"],
      ["http://h.invalid/manifest", "--tor-control", "PEER", "--tor-password-file", "FILE"],
    ])
  func cores(_ words: [String]) throws {
    let peer = try ScriptedPeer("", holds: true)
    // A header line as well as a user and a password.
    let file = try file("X-Token: \(secrets[0])")
    // Whatever forbade them in this process says nothing of the one that is looked at.
    let child = try Child(
      "/bin/sh",
      [
        "-c", "ulimit -c unlimited 2>/dev/null; exec \"$0\" \"$@\"", Fetchres.binary, "pull",
        "--key", bench.site.key, "-d", bench.directory,
      ]
        + words.map {
          $0.replacing("PEER", with: peer.address).replacing("FILE", with: file)
            .replacing("SECRET", with: escaped(1))
        }, environment: bench.fetchres.environment)
    #expect(waitUntil { !peer.heard.isEmpty })
    #expect(hardCoreLimit(child.identifier) == "0")
    expectNone(hunt.found(inProcess: child.identifier), "what others can list")
  }

  /// Bytes, or `unlimited`.
  private func hardCoreLimit(_ process: pid_t) -> String? {
    let limits = try? String(decoding: Disk.read("/proc/\(process)/limits"), as: UTF8.self)
    let line = limits?.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    return line?.split(separator: " ").dropFirst(5).first.map(String.init)
  }

  @Test("the hunt finds a secret that leaks, in every form and place")
  func leaks() throws {
    for (index, secret) in secrets.enumerated() {
      let leaks = [
        "before \(secret) behind", "?x=\(escaped(index))&y", "?x=\(escaped(index).lowercased())",
        Data(secret.utf8).base64EncodedString(), Data("user:\(secret)".utf8).base64EncodedString(),
        Data("u:\(secret)!".utf8).base64EncodedString(),
        Data("me:\(secret)??".utf8).base64EncodedString(),
      ]
      for leak in leaks { #expect(hunt.found(in: Array(leak.utf8)) == [secret], "\(leak)") }
    }
    #expect(hunt.found(in: Array("pl4nted/ and no secret".utf8)) == [])
    // On disk, and in a process.
    try bench.scratch.write("state/fetchres/leak", Array("log: \(secrets[3])\n".utf8))
    #expect(try hunt.found(below: bench.scratch.path) { _ in false } == [secrets[3]])
    let child = try Child(
      try #require(Command.path(of: "sleep")), ["60"], environment: ["LEAK": secrets[1]])
    #expect(waitUntil { hunt.found(inProcess: child.identifier) == [secrets[1]] })
  }
}
