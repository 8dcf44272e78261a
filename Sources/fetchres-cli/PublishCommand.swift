import Failure
import Manifest
import Publishing
import SignedNote
import Storage
import System

/// `fetchres publish`.
enum PublishCommand {
  static let spec = CommandSpec(
    name: "publish",
    example: "fetchres publish world.map --site site --version 2026.11.30 --key world.key",
    operands: "FILE --site DIR --version V --key FILE… | MODE --site DIR …",
    summary: "Put a new version of a resource into a site that any static server can serve.",
    options: [
      OptionSpec("--site", "DIR", "the site; made where it is not there"),
      OptionSpec("--version", "V", "the name of the version; it never changes again"),
      OptionSpec("--key", "FILE", repeats: true, "secret key; the first signs, others co-sign"),
      OptionSpec("--block-size", "SIZE", "default: from 1M, at most 65,536 blocks"),
      OptionSpec("--expires", "DATE", "RFC 3339 or +90d: clients refuse it from then on"),
      OptionSpec("--mirror", "URL", repeats: true, "a base that serves the same site"),
      OptionSpec("--next-key", "VKEY", "the public key that will follow this one"),
      OptionSpec("--link", "hard-link the file instead of copying, and make it read-only"),
      OptionSpec("--as", "NAME", "its name in the site"),
      OptionSpec("--force-unannounced-key", "sign with a key that the last one did not announce"),
      OptionSpec("--clock-was-wrong", "publish although the last release is from the future"),
      OptionSpec("--hold-checkpoint", "stop before it is live, and print what witnesses cosign"),
      OptionSpec("--release-checkpoint", "FILE", "mode: go live with the cosigned checkpoint"),
      OptionSpec("--refresh", "mode: sign the newest version again, with new dates"),
      OptionSpec("--prune", "V", "mode: remove the data of an old version, never its manifest"),
      OptionSpec("--abandon", "mode: forget an interrupted publish of which nothing is in place"),
      OptionSpec("--recover", "URL", "mode: rebuild the site from a mirror or the live one"),
      OptionSpec("--check", "URL", "mode: read an upload back, before it goes live"),
      OptionSpec("--live", "with --check: it is live, and has to be"),
      OptionSpec("--all", "with --check: every block, not a sample"),
      OptionSpec("--upload-order", "mode: list the files that the last publish changed"),
      OptionSpec(
        "--phase", "NAME", choices: UploadOrder.Phase.allCases.map(\.rawValue),
        "only these of that list"),
      OptionSpec("--null", letter: "-0", "end names with NUL instead of a newline"),
      OptionSpec.certificates,
    ] + ProxyOptions.specs + PasswordOptions.specs,
    notes: """
      Back up the key file and the record beside it (FILE.head): whoever loses them cannot publish,
      whoever steals the key can. An interrupted publish is completed by the next one.
      """,
    operandCount: 0...1, configuresItself: true, run: run)

  /// What a publish of a file, and each mode instead of it, understands besides the site and the keys.
  private struct Mode: Sendable {
    var name: String
    var options: [String]
    var run: @Sendable (ParsedArguments) throws(FetchFailure) -> Int32
  }

  private static let signing = [
    "--expires", "--mirror", "--next-key", "--force-unannounced-key", "--clock-was-wrong",
    "--hold-checkpoint",
  ]
  private static let remote = ProxyOptions.specs.map(\.name) + [OptionSpec.certificates.name]

  private static let file = Mode(
    name: "a file", options: ["--version", "--block-size", "--link", "--as"] + signing,
    run: publish)
  private static let modes = [
    Mode(name: "--refresh", options: signing, run: PublishModes.refresh),
    Mode(name: "--prune", options: [], run: PublishModes.prune),
    Mode(name: "--abandon", options: [], run: PublishModes.abandon),
    Mode(name: "--recover", options: remote, run: PublishModes.recover),
    Mode(name: "--check", options: ["--live", "--all"] + remote, run: PublishModes.check),
    Mode(name: "--upload-order", options: ["--phase", "--null"], run: PublishModes.uploadOrder),
    Mode(name: "--release-checkpoint", options: [], run: PublishModes.release),
  ]

  private static func run(_ typed: ParsedArguments) throws(FetchFailure) -> Int32 {
    let given = modes.filter { typed.has($0.name) }
    guard given.count <= 1 else {
      throw FetchFailure(.usage, "\(given[0].name) and \(given[1].name) exclude each other")
    }
    guard given.isEmpty == (typed.operands.count == 1) else {
      throw FetchFailure(
        .usage,
        given.isEmpty ? "publish needs a file" : "\(given[0].name) takes no file",
        hint: "usage: fetchres publish \(spec.operands)")
    }
    let mode = given.first ?? file
    // What would be passed over is said: who wrote it believes that it counts.
    let special = Set(([file] + modes).flatMap(\.options)).subtracting(mode.options)
    if let other = spec.options.first(where: { special.contains($0.name) && typed.has($0.name) }) {
      throw FetchFailure(
        .usage, "\(other.name) says nothing about \(mode.name)",
        hint: "'fetchres help publish' says what each option is for")
    }
    return try mode.run(configured(typed))
  }

  /// With what the configuration says of the origin that is checked or recovered.
  private static func configured(_ typed: ParsedArguments) throws(FetchFailure) -> ParsedArguments {
    if let url = typed.value("--check") {
      let site = try PublishModes.required("--site", typed)
      return try typed.configured(spec, forURL: url, of: try PublishedSite.origin(of: site))
    }
    if let url = typed.value("--recover") {
      // The site may be gone; the key never is.
      let key = try PublishModes.required("--key", typed)
      return try typed.configured(spec, forURL: url, of: try KeyFile.origin(of: key))
    }
    return try typed.configured(spec)
  }

  private static func publish(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    var request = PublishRequest(
      file: arguments.operands[0], site: try PublishModes.required("--site", arguments),
      version: try PublishModes.required("--version", arguments), keyFiles: arguments.all("--key"))
    _ = try PublishModes.required("--key", arguments)
    request.blockSize = try arguments.parse("--block-size", "size", Quantities.size)
    request.expires = try PublishModes.expires(arguments)
    request.mirrors = arguments.all("--mirror")
    request.nextKey = try arguments.parse("--next-key", "public key") { NoteKey($0) }
    request.links = arguments.has("--link")
    request.name = arguments.value("--as")
    request.forcesUnannouncedKey = arguments.has("--force-unannounced-key")
    request.clockWasWrong = arguments.has("--clock-was-wrong")
    request.holdsCheckpoint = arguments.has("--hold-checkpoint")

    let result = try Publisher(passwords: try PublishModes.passwords(arguments)) { Talk.note($0) }
      .publish(request)
    let manifest = result.manifest
    if result.hasPutBack {
      Talk.note(
        "version \(manifest.version) is published with this content already, and its data were gone: "
          + "they are put back; upload \(SitePaths.release(manifest.version)) again")
    } else if result.wasThere, result.heldCheckpoint == nil {
      Talk.note(
        "version \(manifest.version) is published with this content already; nothing changed")
    } else if !result.wasThere {
      Talk.note(
        "published \(manifest.origin) \(manifest.version) as release \(manifest.release): "
          + "\(manifest.layout.size) bytes in \(manifest.layout.count) blocks")
    }
    PublishModes.showHeld(result)
    return 0
  }
}

/// `fetchres keygen`.
enum KeygenCommand {
  static let spec = CommandSpec(
    name: "keygen",
    example: "fetchres keygen maps.example.com/world --out world.key",
    operands: "ORIGIN [--out FILE] [--next FILE]",
    summary: "Make a secret key for an origin, and print the public key that users need.",
    options: [
      OptionSpec("--out", "FILE", "where the secret key goes; default: ORIGIN's last part + .key"),
      OptionSpec("--next", "FILE", "make the key that will follow it too"),
    ] + PasswordOptions.newSpecs,
    notes: """
      An origin names a resource, such as maps.example.com/world; it needs no server behind it.
      With --next, publish the first release with --next-key and the text that is printed for it.
      With a password the key is stored as encrypted PKCS#8, which 'openssl pkey' reads too; publish
      then asks for it, or takes --password-file.
      """,
    operandCount: 1...1, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let name = arguments.operands[0]
    guard let origin = Origin(name) else {
      throw FetchFailure(
        .usage, "'\(name)' is no origin",
        hint: "1 to 200 of a-z 0-9 . - _ : / such as maps.example.com/world")
    }
    let fileSystem = RealFileSystem()
    let path = arguments.value("--out") ?? "\(origin.directoryName).key"
    try KeyFile.checkFree([path] + [arguments.value("--next")].compactMap(\.self), fileSystem)
    let password = try PasswordOptions.newPassword(arguments, of: "the secret key")
    let key = try KeyFile.generate(origin, at: path, fileSystem, password: password)
    Talk.note("the secret key is in \(path): keep it, and a copy where you cannot lose it")
    if let nextPath = arguments.value("--next") {
      let next = try KeyFile.generate(origin, at: nextPath, fileSystem, password: password)
      Talk.note("the next key is in \(nextPath); announce it with --next-key \(next)")
    }
    Output.line(key)
    return 0
  }
}
