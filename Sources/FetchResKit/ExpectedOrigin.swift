import Failure
import SignedNote

/// Which origin a run expects and under which keys, settled before the network is used: so a genuine
/// manifest of another resource is refused.
struct ExpectedOrigin: Sendable {
  var origin: Origin
  /// Public keys of that name.
  var keys: [NoteKey]

  /// The keys given for this run, all of one name, against `--origin`.
  ///
  /// - Throws: `usage`.
  static func parse(
    keys texts: [String], origin text: String?
  ) throws(FetchFailure) -> (keys: [NoteKey], origin: Origin?) {
    var named: Origin?
    if let text {
      guard let origin = Origin(text) else {
        throw FetchFailure(.usage, "'\(text)' is no origin")
      }
      named = origin
    }
    var keys: [NoteKey] = []
    for text in texts {
      guard let key = NoteKey(text), let origin = key.origin else {
        throw FetchFailure(
          .usage, "'\(text.prefix(100))' is no public key",
          hint: "give the line that 'fetchres keygen' printed, or @FILE to read it from a file")
      }
      if let named, named != origin {
        throw FetchFailure(.usage, "the key is for \(origin), not for \(named)")
      }
      named = origin
      keys.append(key)
    }
    return (keys, named)
  }
}
