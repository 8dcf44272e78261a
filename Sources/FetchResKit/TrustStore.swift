import Failure
import ReleaseLog
import SignedNote
import Storage
import System

/// Whom a user trusts: keys of origins, witnesses, and how many of those it takes.
package struct Trust: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    package var key: NoteKey
    /// A short name of the user's.
    package var name: String?
  }

  package internal(set) var keys: [Entry] = []
  package internal(set) var witnesses: [Entry] = []
  package internal(set) var quorum = 0

  /// The keys of an origin, in the order in which they were added.
  package func keys(of origin: Origin) -> [NoteKey] {
    keys.map(\.key).filter { $0.origin == origin }
  }

  package var origins: [Origin] {
    var origins: [Origin] = []
    for origin in keys.compactMap(\.key.origin) where !origins.contains(origin) {
      origins.append(origin)
    }
    return origins
  }

  package var policy: WitnessPolicy {
    WitnessPolicy(witnesses: witnesses.map(\.key), quorum: quorum)
  }

  // MARK: Changing it

  /// - Returns: whether it was not there already.
  /// - Throws: `usage` for a key that no origin has, for one with the name and id of another, and for
  ///   a short name that is taken.
  package mutating func add(_ key: NoteKey, name: String?) throws(FetchFailure) -> Bool {
    guard key.origin != nil else {
      throw FetchFailure(
        .usage, "\(key.name) is no origin, and its key signs none",
        hint: "a witness is added with 'fetchres trust witness add'")
    }
    return try Self.add(key, name, to: &keys)
  }

  package mutating func addWitness(_ key: NoteKey, name: String?) throws(FetchFailure) -> Bool {
    guard key.algorithm == .cosignature else {
      throw FetchFailure(
        .usage, "\(key) is no key of a witness",
        hint: "the keys of witnesses are those of cosignatures (type 0x04)")
    }
    return try Self.add(key, name, to: &witnesses)
  }

  private static func add(
    _ key: NoteKey, _ name: String?, to entries: inout [Entry]
  ) throws(FetchFailure) -> Bool {
    if let name {
      guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw FetchFailure(.usage, "'\(name)' is no short name: visible characters, no spaces")
      }
      guard !entries.contains(where: { $0.name == name && $0.key != key }) else {
        throw FetchFailure(.usage, "the short name \(name) is taken")
      }
    }
    if let index = entries.firstIndex(where: { $0.key == key }) {
      entries[index].name = name ?? entries[index].name
      return false
    }
    guard !entries.contains(where: { $0.key.name == key.name && $0.key.id == key.id }) else {
      throw FetchFailure(
        .usage, "another key with the name and id of \(key) is there",
        hint: "nobody could tell their signatures apart: remove the other one first")
    }
    entries.append(Entry(key: key, name: name))
    return true
  }

  /// Removes what a text names: a key, a short name, or an origin with all its keys.
  ///
  /// - Returns: what was removed.
  package mutating func remove(_ text: String) -> [NoteKey] {
    func isMeant(_ entry: Entry) -> Bool {
      entry.key.description == text || entry.name == text || entry.key.name == text
    }
    defer {
      keys.removeAll(where: isMeant)
      witnesses.removeAll(where: isMeant)
    }
    return (keys + witnesses).filter(isMeant).map(\.key)
  }

  package mutating func setQuorum(_ quorum: Int) { self.quorum = quorum }

  // MARK: Text

  private static let firstLine = "fetchres trust v1"

  var text: String {
    func line(_ word: String, _ entry: Entry) -> String {
      "\(word) \(entry.key)" + (entry.name.map { " \($0)" } ?? "")
    }
    let lines =
      [Self.firstLine] + keys.map { line("key", $0) } + witnesses.map { line("witness", $0) }
      + ["quorum \(quorum)"]
    return lines.map { $0 + "\n" }.joined()
  }

  /// Nil for anything that `text` does not write.
  init?(text: String) {
    let lines = text.split(separator: "\n")
    guard lines.first.map(String.init) == Self.firstLine else { return nil }
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ")
      guard (2...3).contains(parts.count) else { return nil }
      let name = parts.count == 3 ? String(parts[2]) : nil
      switch parts[0] {
      case "key", "witness":
        guard let key = NoteKey(parts[1]) else { return nil }
        if parts[0] == "key" {
          keys.append(Entry(key: key, name: name))
        } else {
          witnesses.append(Entry(key: key, name: name))
        }
      case "quorum":
        guard let number = Decimal.decode(parts[1]), number <= 1_000 else { return nil }
        quorum = Int(number)
      default: return nil
      }
    }
  }

  package init() {}
}

/// Keeps the trust of a user: `<state>/trust`, replaced in one durable step.
package struct TrustStore: Sendable {
  private let path: String
  private let fileSystem: any FileSystem

  private static let name = "trust"

  /// - Parameter path: the state directory.
  init(below path: String, _ fileSystem: any FileSystem) {
    (self.path, self.fileSystem) = (path, fileSystem)
  }

  /// - Throws: `io-error` for a file that is damaged: it is never taken for none.
  package func load() throws(FetchFailure) -> Trust {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try fileSystem.openDirectory(path).readFile(Self.name, limit: 1 << 20)
    } catch {
      if error.code == SystemError.notFound { return Trust() }
      throw error.failure("cannot read \(Path.join(path, Self.name))")
    }
    guard let trust = Trust(text: String(decoding: bytes, as: UTF8.self)) else {
      throw FetchFailure(
        .ioError, "\(Path.join(path, Self.name)) is damaged",
        hint: "nothing was changed; restore it, or remove it and add the keys again")
    }
    return trust
  }

  /// Changes it; durable when this returns.
  package func update<Result>(
    _ change: (inout Trust) throws(FetchFailure) -> Result
  ) throws(FetchFailure) -> Result {
    let directory = try doing("cannot write in \(path)") { () throws(SystemError) in
      try fileSystem.makeDirectories(path, permissions: 0o700)
      return try fileSystem.openDirectory(path)
    }
    let lock = try doing("cannot lock \(path)") { () throws(SystemError) in
      let file = try directory.openFile(".\(Self.name).lock", .create(permissions: 0o600))
      return try file.tryLock() ? file : nil
    }
    guard let lock else {
      throw FetchFailure(
        .locked, "another fetchres changes the trusted keys", hint: "run again in a moment")
    }
    defer { withExtendedLifetime(lock) {} }
    var trust = try load()
    let before = trust
    let result = try change(&trust)
    if trust != before {
      try doing("cannot write \(Path.join(path, Self.name))") { () throws(SystemError) in
        try directory.replaceFile(Self.name, Array(trust.text.utf8), permissions: 0o600)
      }
    }
    return result
  }
}
