import Failure
import FetchResKit
import ReleaseLog
import SignedNote
import Storage
import System

/// `fetchres integrity`.
enum IntegrityCommand {
  static let spec = CommandSpec(
    name: "integrity",
    example: "fetchres integrity report",
    operands:
      "[report] [ORIGIN] | ack [ORIGIN] | gossip ORIGIN | ingest FILE|-|URL | sample [DIR] | "
      + "verify-evidence FILE",
    verbs: ["report", "ack", "gossip", "ingest", "sample", "verify-evidence"],
    summary: "Say whether everybody is shown the same releases, and what speaks against it.",
    options: [
      OptionSpec("--json", "report, sample: one JSON object a line"),
      OptionSpec("--key", "VKEY", repeats: true, "ingest, verify-evidence: trust this key alone"),
      OptionSpec("--count", "N", "sample: so many random blocks; default 16"),
      OptionSpec.certificates,
    ] + ProxyOptions.specs + [OptionSpec.stateDirectory],
    notes: """
      'report' says what was verified and what is suspicious; 'ack' says that you have seen it.
      'gossip' prints the newest state that was verified here, signed by the publisher: give it to
      others, and compare theirs with 'ingest'. 'sample' proves blocks on this disk with proofs that
      are fetched afresh. 'verify-evidence' checks a proof that a publisher signed two histories,
      without a network: exit 0 if it is one, 4 if not.
      """,
    operandCount: 0...2, configuresItself: true, run: run)

  private static func run(_ typed: ParsedArguments) throws(FetchFailure) -> Int32 {
    let arguments = try typed.configured(spec)
    let words = arguments.operands
    let second = words.count == 2 ? words[1] : nil
    switch words.first {
    case nil, "report": return try IntegrityReport.print(second, arguments)
    case "ack": return try acknowledge(second, arguments)
    case "gossip":
      let bytes = try integrity(arguments).gossip(try origin(try needed(second, "an origin")))
      Output.write(String(decoding: bytes, as: UTF8.self))
      return 0
    case "ingest": return try ingest(try needed(second, "FILE, - or a URL"), typed)
    case "sample": return try sample(typed)
    case "verify-evidence": return try verifyEvidence(try needed(second, "a file"), arguments)
    case let word?:
      guard second == nil, Origin(word) != nil else {
        throw FetchFailure(
          .usage, "integrity takes \(spec.operands)", hint: "'fetchres help integrity' says more")
      }
      return try IntegrityReport.print(word, arguments)
    }
  }

  static func integrity(
    _ arguments: ParsedArguments, _ interruption: Interruption = Interruption(),
    proxy: ProxySetting = .environment
  ) throws(FetchFailure) -> Integrity {
    try Integrity(
      stateDirectory: arguments.value("--state-dir"), proxy: proxy,
      certificateFile: arguments.value("--cacert"), interruption: interruption)
  }

  private static func needed(_ word: String?, _ what: String) throws(FetchFailure) -> String {
    guard let word else {
      throw FetchFailure(
        .usage, "\(what) is missing", hint: "usage: fetchres integrity \(spec.operands)")
    }
    return word
  }

  static func origin(_ text: String) throws(FetchFailure) -> Origin {
    guard let origin = Origin(text) else {
      throw FetchFailure(.usage, "'\(text.shortened(to: 100))' is no origin")
    }
    return origin
  }

  private static func keys(_ arguments: ParsedArguments) throws(FetchFailure) -> [NoteKey] {
    var keys: [NoteKey] = []
    for given in arguments.all("--key") {
      for text in try FileArgument.texts(given, "--key") {
        guard let key = NoteKey(text), key.origin != nil else {
          throw FetchFailure(.usage, "'\(text.shortened(to: 100))' is no public key")
        }
        keys.append(key)
      }
    }
    return keys
  }

  private static func acknowledge(
    _ text: String?, _ arguments: ParsedArguments
  ) throws(FetchFailure) -> Int32 {
    let integrity = try integrity(arguments)
    var origins = integrity.origins()
    if let text { origins = [try origin(text)] }
    var count = 0
    for origin in origins { count += try integrity.acknowledge(origin) }
    Talk.note("\(Quantities.counted(Int64(count), "alert")) acknowledged")
    return 0
  }

  private static func ingest(
    _ place: String, _ typed: ParsedArguments
  ) throws(FetchFailure) -> Int32 {
    let interruption = Interruption()
    _ = Signals { interruption.raise($0) }
    let bytes: [UInt8]
    var peer = place
    if place == "-" {
      peer = "standard input"
      bytes = try FileArgument.bounded(
        "standard input", of: "checkpoint", limit: Checkpoint.maximumByteCount, else: .noteMalformed
      ) { limit throws(SystemError) in try StandardInput.readAll(limit: limit) }
    } else if place.contains("://") {
      let arguments = try typed.configured(spec, forURL: place)
      (bytes, peer) = try integrity(
        arguments, interruption, proxy: try ProxyOptions.spoken(arguments)
      ).fetch(place)
    } else {
      bytes = try FileArgument.bytes(
        place, of: "checkpoint", limit: Checkpoint.maximumByteCount, else: .noteMalformed)
    }
    // Where the difference has to be looked up, the lines for that origin say through what.
    let arguments = try typed.configured(spec, for: Origin(ofNote: bytes))
    let integrity = try integrity(
      arguments, interruption, proxy: try ProxyOptions.setting(arguments))
    let result = try integrity.ingest(bytes, from: peer, keys: try keys(arguments))
    let theirs = Quantities.counted(result.theirs.size, "release")
    let ours = Quantities.counted(result.ours.size, "release")
    switch result.comparison {
    case .match: Output.line("match: both know \(ours) of \(result.origin)")
    case .behind(true):
      Output.line("behind: they know \(theirs), which are the first of the \(ours) known here")
    case .behind(false):
      Output.line(
        "behind: they know \(theirs), and \(ours) are known here; whether theirs are the first of "
          + "them could not be fetched now and is compared at the next pull")
    case .ahead:
      Output.line(
        "ahead: they know \(theirs), and only \(ours) are known here; remembered, and compared at the "
          + "next pull")
    }
    return 0
  }

  private static func sample(_ typed: ParsedArguments) throws(FetchFailure) -> Int32 {
    let interruption = Interruption()
    _ = Signals { interruption.raise($0) }
    let directory = try ChosenDirectory.open(typed.operands.dropFirst().first)
    let arguments = try typed.configured(spec, for: directory.origin())
    let count = try arguments.parse("--count", "number", Quantities.count) ?? 16
    let sample = try integrity(
      arguments, interruption, proxy: try ProxyOptions.spoken(arguments)
    ).sample(directory, count: count)
    if arguments.has("--json") {
      var line = JSONLine("sample")
      line.add("checked", Int64(sample.checked))
      line.add("verified", Int64(sample.verified))
      line.add("releases", Int64(sample.releases))
      line.add("missing", Int64(sample.missing.count))
      line.print()
    } else {
      Output.line(
        "\(Quantities.counted(Int64(sample.checked), "block")) checked, "
          + "\(Quantities.grouped(Int64(sample.verified))) verified; "
          + "\(Quantities.counted(Int64(sample.releases), "release")) found in the release log")
    }
    for failure in sample.missing.prefix(3) {
      Talk.note("could not be fetched, which is no alarm: \(failure.message)")
    }
    guard let wrong = sample.wrong.first else { return 0 }
    Talk.error(
      FetchFailure(
        .blockMismatch, "a file on this disk is not what was signed: \(wrong.message)",
        hint: "'fetchres verify \(directory.path)' says which"))
    return FailureCategory.blockMismatch.exitCode()
  }

  private static func verifyEvidence(
    _ path: String, _ arguments: ParsedArguments
  ) throws(FetchFailure) -> Int32 {
    let bytes = try FileArgument.bytes(
      path, of: "evidence", limit: Evidence.maximumByteCount, else: .proofMalformed)
    let trusted = try keys(arguments)
    let evidence = try Evidence(bytes, trusted: trusted)
    Output.line(
      "evidence: \(evidence.origin) signed a log of "
        + "\(Quantities.counted(evidence.smaller.size, "release")) and one of "
        + "\(Quantities.grouped(evidence.larger.size)), and neither continues the other")
    for key in evidence.keys { Output.line("signed by \(key)") }
    if trusted.isEmpty {
      Talk.note("hint: whose key that is, the file cannot prove: compare it, or give it with --key")
    }
    return 0
  }
}

extension Origin {
  /// The first line of a checkpoint, which nothing has verified.
  fileprivate init?(ofNote bytes: [UInt8]) {
    self.init(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}
