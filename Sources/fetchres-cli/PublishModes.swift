import Crypto
import Failure
import FetchResKit
import Publishing
import SignedNote
import Storage
import System

/// What `fetchres publish` does besides publishing a file.
enum PublishModes {
  static func required(
    _ option: String, _ arguments: ParsedArguments
  ) throws(FetchFailure) -> String {
    guard let value = arguments.value(option) else {
      throw FetchFailure(
        .usage, "publish needs \(option)",
        hint: "usage: fetchres publish \(PublishCommand.spec.operands)")
    }
    return value
  }

  /// Those of the keys. Nobody watches for signals meanwhile: one ends the question with the process.
  static func passwords(_ arguments: ParsedArguments) throws(FetchFailure) -> PasswordSource {
    try PasswordOptions.source(arguments, Interruption())
  }

  static func expires(_ arguments: ParsedArguments) throws(FetchFailure) -> UTCDate? {
    let now = UTCDate(seconds: Clocks.wall())
    return try arguments.parse("--expires", "date") { Quantities.date($0, now: now) }
  }

  static func refresh(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    _ = try required("--key", arguments)
    var request = Publisher.RefreshRequest(
      site: try required("--site", arguments), keyFiles: arguments.all("--key"))
    request.expires = try expires(arguments)
    request.mirrors = arguments.has("--mirror") ? arguments.all("--mirror") : nil
    request.nextKey = try arguments.parse("--next-key", "public key") { NoteKey($0) }
    request.forcesUnannouncedKey = arguments.has("--force-unannounced-key")
    request.clockWasWrong = arguments.has("--clock-was-wrong")
    request.holdsCheckpoint = arguments.has("--hold-checkpoint")
    let result = try Publisher(passwords: try passwords(arguments)) { Talk.note($0) }
      .refresh(request)
    let manifest = result.manifest
    if result.wasThere, result.heldCheckpoint == nil {
      Talk.note("the interrupted publish is complete; nothing else was changed")
    } else if !result.wasThere {
      Talk.note(
        "refreshed \(manifest.origin) \(manifest.version) as release \(manifest.release)")
    }
    showHeld(result)
    return 0
  }

  /// Prints the checkpoint that waits for witnesses.
  static func showHeld(_ result: PublishResult) {
    guard let held = result.heldCheckpoint else { return }
    if result.wasThere {
      Talk.note(
        "the checkpoint of release \(result.manifest.release), version "
          + "\(result.manifest.version), is held already; nothing was changed")
    }
    Output.write(String(decoding: held, as: UTF8.self))
    Talk.note(
      "it is not live yet: have the checkpoint cosigned, then "
        + "'fetchres publish --release-checkpoint FILE'")
  }

  static func release(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let file = try required("--release-checkpoint", arguments)
    let site = try required("--site", arguments)
    let note = try FileArgument.bytes(
      file, of: "checkpoint", limit: Checkpoint.maximumByteCount, else: .usage)
    let manifest = try Publisher(passwords: try passwords(arguments)) { Talk.note($0) }
      .release(checkpoint: note, site: site, keyFiles: arguments.all("--key"))
    Talk.note("\(manifest.origin) \(manifest.version) is live as release \(manifest.release)")
    return 0
  }

  static func prune(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let version = try required("--prune", arguments)
    let removed = try Publisher { Talk.note($0) }
      .prune(version, site: try required("--site", arguments))
    Talk.note(
      removed
        ? "the data of version \(version) are removed, its manifest is kept"
        : "version \(version) was pruned before; nothing changed")
    return 0
  }

  static func abandon(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let was = try Publisher { Talk.note($0) }.abandon(site: try required("--site", arguments))
    Talk.note(was ? "the interrupted publish is forgotten" : "there is no interrupted publish")
    return 0
  }

  static func recover(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let remote = try remote("--recover", arguments)
    let site = try required("--site", arguments)
    let manifest = try SiteRecovery(remote).run(
      site: site, keyFile: try required("--key", arguments),
      passwords: try PasswordOptions.source(arguments, remote.interruption))
    Talk.note(
      "\(site) is rebuilt up to release \(manifest.release), version \(manifest.version)")
    return 0
  }

  static func check(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let state = try SiteCheck(try remote("--check", arguments)).run(
      site: try required("--site", arguments), all: arguments.has("--all"),
      expectsLive: arguments.has("--live"))
    switch state {
    case .ready: Output.line("ready")
    case .live: Output.line("live")
    }
    return 0
  }

  /// The site at the URL of an option.
  private static func remote(
    _ option: String, _ arguments: ParsedArguments
  ) throws(FetchFailure) -> RemoteSite {
    let interruption = Interruption()
    _ = Signals { interruption.raise($0) }
    return try RemoteSite(
      try required(option, arguments), certificateFile: arguments.value("--cacert"),
      proxy: try ProxyOptions.spoken(arguments), interruption: interruption
    ) { Talk.note($0) }
  }

  static func uploadOrder(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let order = try UploadOrder(site: try required("--site", arguments))
    let phase = try arguments.parse("--phase", "phase") { UploadOrder.Phase(rawValue: $0) }
    let end = arguments.has("--null") ? "\0" : "\n"
    for each in UploadOrder.Phase.allCases where phase == nil || phase == each {
      for file in order.files[each] ?? [] { Output.write(file + end) }
    }
    return 0
  }
}
