import Crypto
import Failure
import Manifest
import MerkleTree
import SignedNote
import System

/// The text in which the state lies on disk: `fetchres log state v1`, then one line a fact, and last
/// `end <sha256 of all before>`, so that a damaged one is known as such. Notes and sentences are
/// base64; what may hold spaces stands last on its line.
extension LogState {
  private static let firstLine = "fetchres log state v1"

  package var text: [UInt8] {
    var lines = [Self.firstLine, "origin \(origin)", "serial \(serial)", "runs \(runs)"]
    func add(_ word: String, _ rest: String?) {
      if let rest { lines.append("\(word) \(rest)") }
    }
    add("checked", lastCheck.map { "\($0)" })
    add("head", head.map { "\($0.key) \(Base64.encode($0.note))" })
    for each in edge { add("edge", "\(each.address.path) \(Base64.encode(each.bytes))") }
    add("newest", newest.map { Base64.encode($0.note) })
    for each in successions { add("succession", "\(each.since) \(each.predecessor) \(each.key)") }
    add("behind", behindSince.map { Self.text($0) })
    add("heads-seen", "\(headsSeen)")
    add("heads-matched", "\(headsMatched)")
    add("samples-proven", "\(samplesProven)")
    for each in seen {
      add(
        "seen",
        "\(each.standing.rawValue) \(Self.text(each.firstSeen)) \(each.head.key) "
          + "\(Base64.encode(each.head.note)) \(Self.line(each.peer))")
    }
    for peer in peers { add("peer", Self.line(peer)) }
    for each in faults {
      add("fault", "\(each.category.rawValue) \(each.count) \(Self.line(each.source))")
    }
    for each in alerts.alerts {
      let words = [
        each.isAcknowledged ? "acknowledged" : "new", each.kind.rawValue,
        each.release.map { "\($0)" } ?? "-", "\(each.time)",
        Base64.encode(Array(each.instance.utf8)), Base64.encode(Array(each.message.utf8)),
      ]
      add("alert", words.joined(separator: " ") + " " + Self.line(each.evidence ?? "-"))
    }
    let body = Array(lines.map { $0 + "\n" }.joined().utf8)
    return body + Array("end \(SHA256.digest(body))\n".utf8)
  }

  /// Reads the text back.
  ///
  /// - Throws: `io-error` for anything that ``text`` does not write.
  package init(text bytes: [UInt8]) throws(FetchFailure) {
    let damaged = FetchFailure(.ioError, "the record of the release log is damaged")
    // The last line is 4 and 64 characters and its end.
    let body = bytes.dropLast(69)
    guard bytes.suffix(69).elementsEqual("end \(SHA256.digest(Array(body)))\n".utf8) else {
      throw damaged
    }
    let lines = String(decoding: body, as: UTF8.self).split(separator: "\n")
    guard lines.count >= 2, lines[0] == Self.firstLine, lines[1].hasPrefix("origin "),
      let origin = Origin(lines[1].dropFirst(7))
    else { throw damaged }
    self.init(origin)
    for line in lines.dropFirst(2) {
      guard let space = line.firstIndex(of: " "),
        take(String(line[..<space]), String(line[line.index(after: space)...]))
      else { throw damaged }
    }
  }

  /// Takes one line; false if it is none of ours.
  private mutating func take(_ word: String, _ rest: String) -> Bool {
    switch word {
    case "serial": return set(\.serial, Decimal.decode(rest))
    case "runs": return set(\.runs, Decimal.decode(rest))
    case "checked": return set(\.lastCheck, Int64(rest))
    case "heads-seen": return set(\.headsSeen, Decimal.decode(rest))
    case "heads-matched": return set(\.headsMatched, Decimal.decode(rest))
    case "samples-proven": return set(\.samplesProven, Decimal.decode(rest))
    case "behind": return set(\.behindSince, Self.moment(rest.split(separator: " ")[...]))
    case "head":
      let parts = rest.split(separator: " ")
      return set(\.head, parts.count == 2 ? Self.head(parts[0], parts[1]) : nil)
    case "newest":
      guard let note = Base64.decode(rest), let manifest = try? Manifest(selfSigned: note) else {
        return false
      }
      newest = Release(manifest, note: note)
      return true
    case "edge":
      let parts = rest.split(separator: " ")
      guard parts.count == 2, let address = try? TileAddress(path: String(parts[0])),
        let bytes = Base64.decode(parts[1])
      else { return false }
      edge.append(EdgeTile(address: address, bytes: bytes))
      return true
    case "succession":
      let parts = rest.split(separator: " ")
      guard parts.count == 3, let since = Decimal.decode(parts[0]),
        let predecessor = NoteKey(parts[1]), let key = NoteKey(parts[2])
      else { return false }
      successions.append(Succession(key: key, predecessor: predecessor, since: since))
      return true
    case "seen":
      let parts = rest.split(separator: " ", maxSplits: 6)
      guard parts.count == 7, let standing = SeenHead.Standing(rawValue: String(parts[0])),
        let moment = Self.moment(parts[1...3]), let head = Self.head(parts[4], parts[5])
      else { return false }
      seen.append(SeenHead(head, standing, peer: String(parts[6]), firstSeen: moment))
      return true
    case "peer":
      peers.append(rest)
      return true
    case "fault":
      let parts = rest.split(separator: " ", maxSplits: 2)
      guard parts.count == 3, let category = FailureCategory(rawValue: String(parts[0])),
        let count = Decimal.decode(parts[1])
      else { return false }
      faults.append(FaultCount(source: String(parts[2]), category: category, count: count))
      return true
    case "alert": return takeAlert(rest)
    default: return false
    }
  }

  private mutating func takeAlert(_ rest: String) -> Bool {
    let parts = rest.split(separator: " ", maxSplits: 6, omittingEmptySubsequences: false)
    guard parts.count == 7, let kind = Alert.Kind(rawValue: String(parts[1])),
      let time = Int64(parts[3]), let instance = Base64.decode(parts[4]),
      let message = Base64.decode(parts[5]), parts[0] == "new" || parts[0] == "acknowledged"
    else { return false }
    var alert = Alert(
      kind, release: Decimal.decode(parts[2]), instance: String(decoding: instance, as: UTF8.self),
      time: time, message: String(decoding: message, as: UTF8.self),
      evidence: parts[6] == "-" ? nil : String(parts[6]))
    alert.isAcknowledged = parts[0] == "acknowledged"
    alerts = AlertList(alerts.alerts + [alert])
    return true
  }

  private mutating func set<Value>(
    _ path: WritableKeyPath<LogState, Value>, _ value: Value?
  ) -> Bool {
    guard let value else { return false }
    self[keyPath: path] = value
    return true
  }

  private mutating func set<Value>(
    _ path: WritableKeyPath<LogState, Value?>, _ value: Value?
  ) -> Bool {
    guard let value else { return false }
    self[keyPath: path] = value
    return true
  }

  private static func head(_ key: Substring, _ note: Substring) -> LogHead? {
    guard let key = NoteKey(key), let note = Base64.decode(note) else { return nil }
    return try? LogHead(note, keys: [key])
  }

  private static func text(_ moment: Moment) -> String {
    "\(moment.run) \(moment.seconds) \(moment.boot.map { Hex.encode($0.bytes) } ?? "-")"
  }

  private static func moment(_ parts: ArraySlice<Substring>) -> Moment? {
    let parts = Array(parts)
    guard parts.count == 3, let run = Decimal.decode(parts[0]), let seconds = Int64(parts[1]) else {
      return nil
    }
    return Moment(
      boot: Hex.decode(parts[2]).flatMap { BootIdentity($0) }, seconds: seconds, run: run)
  }

  /// A text that stays on its line.
  private static func line(_ text: String) -> String {
    text.isEmpty
      ? "?" : String(decoding: text.utf8.map { $0 < 0x20 ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
  }
}
