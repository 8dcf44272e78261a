import Crypto
import Failure
import SignedNote
import Storage
import System

/// What the sources of an origin did in the last run that asked any for data, and how they stand now.
package struct SourceSummaries: Sendable {
  package struct Entry: Sendable, Equatable {
    package var source: FetchEvent.Source
    /// Failures in a row.
    package var failures: UInt32
    /// Seconds until the next attempt, 0 if there is none to wait for.
    package var wait: Double
    /// Seconds for which it is still left alone for wrong bytes.
    package var held: Double
  }

  private let state: StateDirectory

  /// - Parameter stateDirectory: nil for the default of the environment.
  package init(
    stateDirectory: String?, _ fileSystem: any FileSystem = RealFileSystem()
  ) throws(FetchFailure) {
    state = try StateDirectory(stateDirectory, fileSystem)
  }

  package func entries(of origin: Origin) -> [Entry] {
    let (records, boot, now) = (state.sources, BootIdentity.current(), Clocks.sinceBoot())
    return state.summary(of: origin).map { source in
      let name = SourceList.recordName(shown: source.url)
      let ladder = records.ladder(name)
      return Entry(
        source: source, failures: ladder?.failures ?? 0,
        wait: ladder?.sourceWait(now: now, boot: boot) ?? 0,
        held: records.hold(name)?.wait(now: now, boot: boot) ?? 0)
    }
  }
}

/// The text of a summary: for each source a line `source URL`, a line `bytes N`, and a line
/// `refused WORD COUNT` for each way in which it failed.
extension StateDirectory {
  private static func summaryName(_ origin: Origin) -> String {
    SHA256.digest(Array(origin.name.utf8)).description + ".summary"
  }

  /// A state that cannot be written costs a convenience, never a download.
  func remember(_ sources: [FetchEvent.Source], of origin: Origin) {
    var text = ""
    for source in sources {
      text += "source \(source.url)\nbytes \(source.bytes)\n"
      for (category, count) in source.refusals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        text += "refused \(category.rawValue) \(count)\n"
      }
    }
    let directory = Path.join(path, "sources")
    try? fileSystem.makeDirectories(directory, permissions: 0o700)
    try? fileSystem.openDirectory(directory).replaceFile(
      Self.summaryName(origin), Array(text.utf8), permissions: 0o600)
  }

  /// What cannot be read is left out.
  func summary(of origin: Origin) -> [FetchEvent.Source] {
    let name = Self.summaryName(origin)
    guard
      let bytes = try? fileSystem.openDirectory(Path.join(path, "sources"))
        .readFile(name, limit: 65_536)
    else { return [] }
    var sources: [FetchEvent.Source] = []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      switch words.first {
      case "source" where words.count == 2:
        sources.append(FetchEvent.Source(url: String(words[1]), bytes: 0, refusals: [:]))
      case "bytes" where words.count == 2 && !sources.isEmpty:
        sources[sources.count - 1].bytes = Decimal.decode(words[1]) ?? 0
      case "refused" where words.count == 3 && !sources.isEmpty:
        guard let category = FailureCategory(rawValue: String(words[1])),
          let count = Decimal.decode(words[2])
        else { continue }
        sources[sources.count - 1].refusals[category] = Int(clamping: count)
      default: continue
      }
    }
    return sources
  }
}
