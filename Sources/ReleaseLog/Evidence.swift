import Crypto
import Failure
import MerkleTree
import SignedNote

/// A fork that proves itself: two signed checkpoints of one origin, neither a prefix of the other.
///
/// Sizes m < n come with `hashes`, PROOF(m, D[n]) with MTH(D[0:m]) in front where m is a power of two:
/// they lead to the root of the larger, so they are its own, and show that its first m entries are not
/// what the smaller one signed. Equal sizes need none.
package struct Evidence: Sendable, Hashable {
  package let smaller: LogHead
  package let larger: LogHead
  package let hashes: [Digest]

  private static let firstLine = "fetchres fork evidence v1"
  package static let maximumByteCount = 1 << 20

  /// Requires that `smaller` is not the larger.
  ///
  /// - Throws: `proof-malformed` unless it proves a fork.
  package init(smaller: LogHead, larger: LogHead, hashes: [Digest]) throws(FetchFailure) {
    (self.smaller, self.larger, self.hashes) = (smaller, larger, hashes)
    guard smaller.checkpoint.origin == larger.checkpoint.origin else {
      throw Self.refusal("the checkpoints are of different origins")
    }
    guard smaller.size <= larger.size, smaller.size > 0 else {
      throw Self.refusal("the checkpoints are in the wrong order, or one is empty")
    }
    guard smaller.size < larger.size else {
      guard hashes.isEmpty else { throw Self.refusal("equal sizes need no hashes") }
      guard smaller.root != larger.root else { throw Self.refusal("both checkpoints say the same") }
      return
    }
    let implied: (first: Digest, second: Digest)
    do throws(FetchFailure) {
      implied = try ConsistencyProof.impliedRoots(
        size1: smaller.size, size2: larger.size, nodes: hashes)
    } catch { throw Self.refusal(error.message) }
    guard implied.second == larger.root else {
      throw Self.refusal("the hashes are not those of the larger checkpoint")
    }
    guard implied.first != smaller.root else {
      throw Self.refusal("the smaller checkpoint is a prefix of the larger one")
    }
  }

  static func refusal(_ why: String) -> FetchFailure {
    FetchFailure(.proofMalformed, "not evidence: \(why)")
  }

  package var origin: Origin { larger.checkpoint.origin }

  /// The keys that signed, without repeats.
  package var keys: [NoteKey] {
    smaller.key == larger.key ? [larger.key] : [smaller.key, larger.key]
  }

  // MARK: Text

  package var text: [UInt8] {
    var lines = [
      Self.firstLine,
      "# \(origin) signed a log of \(smaller.size) and one of \(larger.size) entries, neither of "
        + "which continues the other.",
      "# 'fetchres integrity verify-evidence FILE --key VKEY' checks it, without a network.",
    ]
    lines += keys.map { "key \($0)" }
    for (word, head) in [("smaller", smaller), ("larger", larger)] {
      lines.append(word)
      lines += String(decoding: head.note, as: UTF8.self).utf8.dropLast()
        .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { "| " + String(Substring($0)) }
    }
    lines += hashes.map { "hash \($0)" }
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }

  /// Reads and checks a file.
  ///
  /// - Parameter trusted: the keys that have to have signed; empty for those that the file names.
  /// - Throws: `proof-malformed` unless it proves a fork under those keys.
  package init(_ bytes: [UInt8], trusted: [NoteKey]) throws(FetchFailure) {
    guard bytes.last == UInt8(ascii: "\n"),
      let text = String(validating: bytes.dropLast(), as: UTF8.self)
    else { throw Self.refusal("it is no text") }
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }[...]
    guard lines.popFirst() == Self.firstLine else {
      throw Self.refusal("its first line is another")
    }
    while lines.first?.hasPrefix("#") == true { lines.removeFirst() }
    var named: [NoteKey] = []
    while let line = lines.first, line.hasPrefix("key ") {
      guard named.count < 2, let key = NoteKey(line.dropFirst(4)), key.origin != nil else {
        throw Self.refusal("a key line is malformed")
      }
      named.append(key)
      lines.removeFirst()
    }
    let keys = trusted.isEmpty ? named : trusted
    func note(_ word: String) throws(FetchFailure) -> [UInt8] {
      guard lines.popFirst() == word else { throw Self.refusal("it has no '\(word)' checkpoint") }
      var note: [String] = []
      while let line = lines.first, line.hasPrefix("| ") {
        note.append(String(line.dropFirst(2)))
        lines.removeFirst()
      }
      return Array(note.map { $0 + "\n" }.joined().utf8)
    }
    let notes = (try note("smaller"), try note("larger"))
    var hashes: [Digest] = []
    for line in lines {
      guard line.hasPrefix("hash "),
        let hash = Hex.decode(line.dropFirst(5)).flatMap({ Digest($0) })
      else { throw Self.refusal("a line is malformed") }
      hashes.append(hash)
    }
    func head(_ note: [UInt8], _ word: String) throws(FetchFailure) -> LogHead {
      do throws(FetchFailure) {
        let head = try LogHead(note, keys: keys)
        guard head.checkpoint.origin == head.key.origin else {
          throw Self.refusal("the \(word) checkpoint is of another origin than its key")
        }
        return head
      } catch { throw Self.refusal("the \(word) checkpoint: \(error.message)") }
    }
    try self.init(
      smaller: try head(notes.0, "smaller"), larger: try head(notes.1, "larger"), hashes: hashes)
  }
}
