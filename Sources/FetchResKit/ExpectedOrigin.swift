import Download
import Failure
import SignedNote
import Storage
import Transport

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
          .usage, "'\(text.shortened(to: 100))' is no public key",
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

  /// Without a network: what was named, else what the directory says that it belongs to, else what
  /// this URL was last time, else a trusted origin that is written like the URL. Nil if none tells.
  static func find(
    named: Origin?, _ site: SiteURL, directory: String?, _ state: StateDirectory
  ) throws(FetchFailure) -> Origin? {
    if let named { return named }
    if let directory, let origin = try ResourceDirectory(directory, state.fileSystem)?.origin() {
      return origin
    }
    if let origin = state.site(of: site.base)?.origin { return origin }
    return try state.trust.load().origins.first { $0.name == site.plainName }
  }
}

extension PullRequest {
  /// The origin whose part of a configuration counts for this request: the one that a run would expect.
  /// Where nothing tells that, it is the one that is written like the URL: nothing is believed of it, and
  /// whoever wrote a way out for it does not want it to be asked directly.
  ///
  /// - Parameter origins: those that have a part.
  /// - Throws: also what hides the state: the way out must not depend on what cannot be read.
  package func configuredOrigin(
    among origins: [Origin], _ fileSystem: any FileSystem = RealFileSystem()
  ) throws(FetchFailure) -> Origin? {
    let named = try ExpectedOrigin.parse(keys: keys, origin: origin).origin
    let site = try SiteURL(url)
    var found = named
    // Where no state is kept, nothing is known of it.
    if stateDirectory != nil || StatePlace.standard != nil {
      found = try ExpectedOrigin.find(
        named: named, site, directory: directory, StateDirectory(stateDirectory, fileSystem))
    }
    return found ?? origins.first { $0.name == site.plainName }
  }
}
