import Crypto
import Failure
import MerkleTree
import SignedNote

extension Manifest {
  static let firstLine = "fetchres manifest v1"

  /// The text of the note: one line a fact, in the one order that exists.
  public var text: String {
    var lines = [
      Self.firstLine,
      "origin \(origin)",
      "version \(version)",
      "release \(release)",
      "size \(layout.size)",
      "block-size \(layout.blockSize)",
      "blocks \(layout.count)",
      "root \(root)",
      "file \(file)",
      "published \(published.text)",
    ]
    if let expires { lines.append("expires \(expires.text)") }
    lines.append("key \(key)")
    lines.append("since \(since)")
    if let nextKey { lines.append("next-key \(nextKey)") }
    lines += mirrors.map { "mirror \($0)" }
    lines += extensions.map { "\($0.name) \($0.value)" }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Parses the text of a verified note.
  ///
  /// - Throws: `manifest-malformed` naming the line; `bad-signature` if the `key` of the manifest did
  ///   not sign it.
  public init(_ note: VerifiedNote) throws(FetchFailure) {
    guard note.bytes.count <= Self.maximumByteCount else {
      throw FetchFailure(
        .manifestMalformed,
        "the manifest has \(note.bytes.count) bytes; at most \(Self.maximumByteCount) are allowed")
    }
    try self.init(lines: note.lines)
    guard note.note.isSigned(by: key) else {
      throw FetchFailure(
        .badSignature, "the manifest is not signed by the key that it names, \(key)")
    }
  }

  private init(lines: [Substring]) throws(FetchFailure) {
    var reader = LineReader(lines: lines)
    guard lines.first.map(String.init) == Self.firstLine else {
      throw LineReader.newer(line: 1)
    }
    reader.next = 1

    let origin = try reader.take("origin") { Origin($0) }
    let version = try reader.take("version") { Self.isVersion($0) ? String($0) : nil }
    let release = try reader.take("release") { Decimal.decode($0) }
    let size = try reader.take("size") { Decimal.decode($0) }
    let blockSize = try reader.take("block-size") { text in
      Decimal.decode(text).flatMap { (1...BlockLayout.maximumBlockSize).contains($0) ? $0 : nil }
    }
    let layout = try reader.take("blocks") { text in
      BlockLayout(size: size, blockSize: blockSize).flatMap {
        $0.count == Decimal.decode(text) ? $0 : nil
      }
    }
    let root = try reader.take("root") { text in
      Hex.decode(text).flatMap { Digest($0) }.flatMap {
        ($0 == .empty) == (layout.count == 0) ? $0 : nil
      }
    }
    let file = try reader.take("file") { Self.isFile($0) ? String($0) : nil }
    let published = try reader.take("published") { UTCDate($0) }
    let expires = try reader.takeIfPresent("expires") { text in
      UTCDate(text).flatMap { $0 > published ? $0 : nil }
    }
    let key = try reader.take("key") { text in
      NoteKey(text).flatMap { $0.origin == origin ? $0 : nil }
    }
    let since = try reader.take("since") { text in
      Decimal.decode(text).flatMap { $0 <= release ? $0 : nil }
    }
    let nextKey = try reader.takeIfPresent("next-key") { Hex.decode($0).flatMap { Digest($0) } }
    var mirrors: [String] = []
    while mirrors.count < Self.maximumMirrors,
      let mirror = try reader.takeIfPresent("mirror", { Mirror.isValid($0) ? String($0) : nil })
    {
      mirrors.append(mirror)
    }
    var extensions: [Extension] = []
    while extensions.count < Self.maximumExtensions, let line = reader.takeExtension() {
      extensions.append(line)
    }
    try reader.end()

    self.init(
      origin: origin, version: version, release: release, layout: layout, root: root, file: file,
      published: published, expires: expires, key: key, since: since, nextKey: nextKey,
      mirrors: mirrors, extensions: extensions)
  }
}

/// Takes the lines of a manifest in order, and names the one that is wrong.
private struct LineReader {
  var lines: [Substring]
  var next = 0

  static let words: Set<String> = [
    "origin", "version", "release", "size", "block-size", "blocks", "root", "file", "published",
    "expires", "key", "since", "next-key", "mirror",
  ]

  mutating func take<Value>(
    _ word: String, _ parse: (Substring) -> Value?
  ) throws(FetchFailure) -> Value {
    guard let value = try takeIfPresent(word, parse) else {
      throw unexpected(instead: "'\(word)'")
    }
    return value
  }

  mutating func takeIfPresent<Value>(
    _ word: String, _ parse: (Substring) -> Value?
  ) throws(FetchFailure) -> Value? {
    guard next < lines.count, lines[next].hasPrefix(word + " ") else { return nil }
    guard let value = parse(lines[next].dropFirst(word.count + 1)) else {
      throw FetchFailure(
        .manifestMalformed, "the manifest is malformed: line \(next + 1) is no valid '\(word)' line"
      )
    }
    next += 1
    return value
  }

  /// An `x-<name> <value>` line: a name of `a-z 0-9 -`, one space, a value of at least one byte.
  mutating func takeExtension() -> Manifest.Extension? {
    guard next < lines.count else { return nil }
    let parts = lines[next].utf8.split(
      separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let first = parts[1].first, first != UInt8(ascii: " "),
      parts[0].count > 2,
      Substring(parts[0]).hasPrefix("x-"),
      parts[0].allSatisfy({
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
          || $0 == UInt8(ascii: "-")
      })
    else { return nil }
    next += 1
    return Manifest.Extension(
      name: String(Substring(parts[0])), value: String(Substring(parts[1])))
  }

  func end() throws(FetchFailure) {
    guard next < lines.count else { return }
    throw unexpected(instead: "the end")
  }

  private func unexpected(instead: String) -> FetchFailure {
    guard next < lines.count else {
      return FetchFailure(
        .manifestMalformed, "the manifest is malformed: it ends where \(instead) should stand")
    }
    let word = String(lines[next].prefix { $0 != " " })
    if !Self.words.contains(word), !word.hasPrefix("x-"), !word.isEmpty {
      return Self.newer(line: next + 1)
    }
    return FetchFailure(
      .manifestMalformed,
      "the manifest is malformed: line \(next + 1) stands where \(instead) should"
    )
  }

  static func newer(line: Int) -> FetchFailure {
    FetchFailure(
      .manifestMalformed, "this manifest needs a newer fetchres (line \(line) is unknown)",
      hint: "update fetchres, then run again")
  }
}
