import Failure
import FetchResKit
import ReleaseLog
import SignedNote
import System

/// `fetchres trust`.
enum TrustCommand {
  static let spec = CommandSpec(
    name: "trust",
    example: "fetchres trust add @world.pub",
    operands: "add VKEY | list | remove KEY | reset ORIGIN | witness add VKEY | quorum N",
    verbs: ["add", "list", "remove", "reset", "witness", "quorum"],
    summary: "Say whose keys count: those of publishers, and those of witnesses.",
    options: [
      OptionSpec("--name", "SHORT", "a short name of your own for the key"),
      OptionSpec("--yes", "reset without asking"),
      OptionSpec("--json", "list: one JSON object a line"),
      OptionSpec.stateDirectory,
    ],
    notes: """
      A key is trusted for its origin alone; VKEY may be @FILE. Compare it with what the publisher
      says elsewhere before you add it. 'remove' takes a key, a short name or an origin. 'reset'
      forgets what was seen of an origin, so that the next pull begins as if it were the first.
      With a quorum, a release counts only if N of the witnesses cosigned the log that holds it.
      """,
    operandCount: 1...3, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let integrity = try Integrity(stateDirectory: arguments.value("--state-dir"))
    let words = arguments.operands
    switch (words[0], words.count) {
    case ("add", 2):
      for text in try FileArgument.texts(words[1], "trust add") {
        try add(text, arguments.value("--name"), integrity)
      }
    case ("list", 1): try list(try integrity.trust.load(), json: arguments.has("--json"))
    case ("remove", 2): try remove(words[1], integrity)
    case ("reset", 2): try reset(words[1], integrity, asks: !arguments.has("--yes"))
    case ("witness", 3) where words[1] == "add":
      for text in try FileArgument.texts(words[2], "trust witness add") {
        try addWitness(text, arguments.value("--name"), integrity)
      }
    case ("witness", 3) where words[1] == "remove": try remove(words[2], integrity)
    case ("quorum", 2): try setQuorum(words[1], integrity)
    default:
      throw FetchFailure(
        .usage, "trust takes \(spec.operands)", hint: "'fetchres help trust' says more")
    }
    return 0
  }

  private static func add(
    _ text: String, _ name: String?, _ integrity: Integrity
  ) throws(FetchFailure) {
    guard let key = NoteKey(text) else {
      throw FetchFailure(
        .usage, "'\(text.shortened(to: 100))' is no public key",
        hint: "give the line that 'fetchres keygen' printed for the publisher, or @FILE")
    }
    let isNew = try integrity.trust.update { trust throws(FetchFailure) in
      try trust.add(key, name: name)
    }
    Talk.note(isNew ? "\(key) is trusted for \(key.name)" : "\(key) was trusted already")
  }

  private static func addWitness(
    _ text: String, _ name: String?, _ integrity: Integrity
  ) throws(FetchFailure) {
    guard let key = NoteKey(text) else {
      throw FetchFailure(.usage, "'\(text.shortened(to: 100))' is no key of a witness")
    }
    let (isNew, quorum) = try integrity.trust.update { trust throws(FetchFailure) in
      (try trust.addWitness(key, name: name), trust.quorum)
    }
    Talk.note(isNew ? "\(key) counts as a witness" : "\(key) counted as a witness already")
    if quorum == 0 {
      Talk.note("hint: 'fetchres trust quorum N' asks for cosignatures by N witnesses")
    }
  }

  private static func list(_ trust: Trust, json: Bool) throws(FetchFailure) {
    for (kind, entries) in [("key", trust.keys), ("witness", trust.witnesses)] {
      for entry in entries {
        guard json else {
          Output.line("\(kind) \(entry.key)" + (entry.name.map { " (\($0))" } ?? ""))
          continue
        }
        var line = JSONLine(kind)
        line.add("key", entry.key.description)
        line.add("origin", entry.key.origin?.name)
        line.add("name", entry.name)
        line.print()
      }
    }
    if json {
      var line = JSONLine("quorum")
      line.add("quorum", Int64(trust.quorum))
      line.print()
    } else if trust.quorum > 0 || !trust.witnesses.isEmpty {
      Output.line("quorum \(trust.quorum)")
    }
  }

  private static func remove(_ text: String, _ integrity: Integrity) throws(FetchFailure) {
    let removed = try integrity.trust.update { trust in trust.remove(text) }
    guard !removed.isEmpty else {
      throw FetchFailure(
        .unavailable, "nothing that is trusted is called '\(text.shortened(to: 100))'",
        hint: "'fetchres trust list' shows all")
    }
    for key in removed { Talk.note("\(key) is not trusted any more") }
  }

  private static func reset(
    _ text: String, _ integrity: Integrity, asks: Bool
  ) throws(FetchFailure) {
    guard let origin = Origin(text) else {
      throw FetchFailure(.usage, "'\(text.shortened(to: 100))' is no origin")
    }
    if asks {
      guard Terminal.isTerminal(Terminal.standardInput) else {
        throw FetchFailure(
          .usage, "reset forgets what protects against older and other histories of \(origin)",
          hint: "run it in a terminal, which asks, or add --yes")
      }
      Talk.note(
        "this forgets the history of \(origin) that this machine has verified, and its alerts; "
          + "type yes to go on:")
      guard StandardInput.readLine() == "yes" else {
        throw FetchFailure(.unavailable, "nothing was forgotten")
      }
    }
    try integrity.reset(origin)
    Talk.note("\(origin) is as if it had never been pulled here; keys and evidence stay")
  }

  private static func setQuorum(_ text: String, _ integrity: Integrity) throws(FetchFailure) {
    guard let quorum = Quantities.count(text), quorum <= 1_000 else {
      throw FetchFailure(.usage, "'\(text.shortened(to: 100))' is no number of witnesses")
    }
    let known = try integrity.trust.update { trust in
      trust.setQuorum(quorum)
      return trust.witnesses.count
    }
    Talk.note(
      quorum == 0
        ? "no cosignatures are asked for"
        : "a checkpoint counts if \(Quantities.counted(Int64(quorum), "witness", "witnesses")) "
          + "cosigned it")
    if known < quorum {
      Talk.warning(
        "only \(Quantities.counted(Int64(known), "witness is", "witnesses are")) known: no release "
          + "can reach that")
    }
  }
}
