import Crypto
import Failure
import FetchResKit
import Storage
import System

/// `fetchres identity`.
enum IdentityCommand {
  static let spec = CommandSpec(
    name: "identity",
    example: "fetchres identity import me.p12 --for maps.example.com",
    operands: "import FILE.p12 | show [NAME] | clear NAME | wipe-after 5|10|15|20|off",
    verbs: ["import", "show", "clear", "wipe-after"],
    summary: "Keep client certificates for servers that ask for one.",
    options: [
      OptionSpec("--name", "NAME", "import: what it is called; default: the name of the file"),
      OptionSpec("--for", "HOST", repeats: true, "import: use it there without being asked to"),
      OptionSpec("--no-password", "import: store the key without a password"),
    ] + PasswordOptions.specs + [
      OptionSpec.stateDirectory,
      OptionSpec("--json", "show: one JSON object a line"),
    ],
    notes: """
      'import' takes key and certificates out of a PKCS#12 file and stores them for you alone, the
      key encrypted under the same password. Importing again under the same name replaces it.
      'show' says whose it is and for how long, never the key. 'clear' removes it; a pull that uses
      it closes its connections within two seconds. 'pull --identity NAME' uses it.
      Wrong passwords make the next attempt wait, longer each time. 'wipe-after N' removes an identity
      after N of them in a row; it is off unless chosen. It protects against whoever sits down at this
      machine, not against a copy: who has copied the file of the identity, the PKCS#12 file or a
      backup tries passwords elsewhere, as often as they like.
      """,
    operandCount: 1...2, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let operands = arguments.operands
    let onlyForImport = ["--name", "--for", "--no-password", "--password-file", "--password-fd"]
    if operands[0] != "import", let option = onlyForImport.first(where: { arguments.has($0) }) {
      throw FetchFailure(.usage, "\(option) belongs to identity import")
    }
    let store = try IdentityStore(stateDirectory: arguments.value("--state-dir"))
    switch (operands[0], operands.count) {
    case ("import", 2): return try add(operands[1], arguments, store)
    case ("show", 1): return try show(try store.names(), arguments, store)
    case ("show", 2): return try show([operands[1]], arguments, store)
    case ("clear", 2): return try clear(operands[1], store)
    case ("wipe-after", 1): return try showWiping(store)
    case ("wipe-after", 2): return try setWiping(operands[1], store)
    default: throw FetchFailure(.usage, "usage: fetchres identity \(spec.operands)")
    }
  }

  private static func add(
    _ file: String, _ arguments: ParsedArguments, _ store: IdentityStore
  ) throws(FetchFailure) -> Int32 {
    let interruption = Interruption()
    _ = Signals { interruption.raise($0) }
    let name = arguments.value("--name") ?? stem(of: file)
    let wasThere = (try? store.read(name)) != nil
    var task = IdentityImport(file, name: name, into: store)
    task.hosts = arguments.all("--for")
    task.dropsPassword = arguments.has("--no-password")
    let identity = try task.run(
      try PasswordOptions.source(arguments, interruption), interruption,
      now: UTCDate(seconds: Clocks.wall())
    ) { Talk.note($0) }
    let own = identity.chain.first
    Talk.note(
      "the identity '\(name)' is \(wasThere ? "replaced" : "stored"): "
        + "\(own?.subject ?? ""), until \(own?.notAfter.text ?? "")")
    if !identity.isEncrypted {
      Talk.note("its key is stored without a password: who can read your files can use it")
    }
    return 0
  }

  private static func stem(of file: String) -> String {
    let name = Path.name(file)
    return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  private static func show(
    _ names: [String], _ arguments: ParsedArguments, _ store: IdentityStore
  ) throws(FetchFailure) -> Int32 {
    if names.isEmpty, !arguments.has("--json") { Talk.note("there is no identity") }
    for name in names {
      guard let identity = try store.read(name) else { throw missing(name) }
      arguments.has("--json") ? describeAsJSON(identity) : describe(identity)
    }
    return 0
  }

  private static func describe(_ identity: StoredIdentity) {
    Output.line("\(identity.name): \(identity.isEncrypted ? "key under a password" : "open key")")
    for host in identity.hosts { Output.line("  for \(host)") }
    for (place, certificate) in identity.chain.enumerated() {
      Output.line("  \(place == 0 ? "subject" : "issued by"): \(Talk.clean(certificate.subject))")
      Output.line("    issuer: \(Talk.clean(certificate.issuer))")
      Output.line("    from \(certificate.notBefore.text) until \(certificate.notAfter.text)")
    }
  }

  private static func describeAsJSON(_ identity: StoredIdentity) {
    var line = JSONLine("identity")
    line.add("name", identity.name)
    line.add("encrypted", identity.isEncrypted)
    line.add("hosts", identity.hosts)
    line.add(
      "chain",
      identity.chain.map { certificate in
        var entry = JSONLine()
        entry.add("subject", certificate.subject)
        entry.add("issuer", certificate.issuer)
        entry.add("notBefore", certificate.notBefore.text)
        entry.add("notAfter", certificate.notAfter.text)
        return entry
      })
    line.print()
  }

  private static func clear(_ name: String, _ store: IdentityStore) throws(FetchFailure) -> Int32 {
    guard try store.remove(name) else { throw missing(name) }
    Talk.note("the identity '\(name)' is removed")
    return 0
  }

  private static func showWiping(_ store: IdentityStore) throws(FetchFailure) -> Int32 {
    Output.line(store.wipeAfter.map { "\($0)" } ?? "off")
    return 0
  }

  private static func setWiping(
    _ text: String, _ store: IdentityStore
  ) throws(FetchFailure) -> Int32 {
    let count = IdentityStore.wipeChoices.first { "\($0)" == text }
    guard count != nil || text == "off" else {
      throw FetchFailure(.usage, "'\(text)' is no choice for wipe-after: 5, 10, 15, 20 or off")
    }
    try store.setWipeAfter(count)
    Talk.note(
      count.map { "an identity is removed after \($0) wrong passwords in a row" }
        ?? "identities are never removed for wrong passwords")
    return 0
  }

  private static func missing(_ name: String) -> FetchFailure {
    FetchFailure(
      .unavailable, "there is no identity '\(name)'",
      hint: "'fetchres identity show' lists those that are there")
  }
}
