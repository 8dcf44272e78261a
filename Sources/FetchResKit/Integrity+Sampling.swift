import Crypto
import Download
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import Storage
import System
import Transport

/// Proves that what lies on this disk is what the publisher committed to, by tiles that are fetched
/// afresh.
extension Integrity {
  package struct Sample: Sendable, Equatable {
    /// Blocks whose tiles could be fetched.
    package var checked = 0
    /// Of those, the ones whose bytes on disk lead to the signed root.
    package var verified = 0
    /// Complete versions that are entries of the kept release log.
    package var releases = 0
    /// What could not be fetched, which is no alarm.
    package var missing: [FetchFailure] = []
    /// Blocks on disk that are wrong.
    package var wrong: [FetchFailure] = []
  }

  package func sample(
    _ directory: ResourceDirectory, count: Int
  ) throws(FetchFailure) -> Sample {
    guard let origin = try directory.origin() else {
      throw FetchFailure(.unavailable, "there is no resource in \(directory.path)")
    }
    let versions = directory.completedVersions()
    guard !versions.isEmpty else {
      throw FetchFailure(.unavailable, "no complete version is in \(directory.path)")
    }
    let store = state.log(of: origin)
    let log = try store.load()
    let transport = try makeTransport(for: state.bases(of: origin).first)
    defer { transport.stop() }
    let sources = sources(of: origin, transport)
    guard !sources.isEmpty else {
      throw FetchFailure(
        .unavailable, "it is not known where \(origin) was pulled from", hint: "pull it again")
    }
    var sample = Sample()
    for version in versions {
      try proveRelease(version, log, sources, store, &sample)
    }
    let total = versions.reduce(0) { $0 + $1.manifest.layout.count }
    var picks: [String: Set<Int64>] = [:]
    for _ in 0..<count where total > 0 {
      var number = Int64.random(in: 0..<total)
      for version in versions {
        guard number >= version.manifest.layout.count else {
          picks[version.manifest.version, default: []].insert(number)
          break
        }
        number -= version.manifest.layout.count
      }
    }
    for version in versions {
      guard let blocks = picks[version.manifest.version] else { continue }
      try proveBlocks(blocks.sorted(), of: version, in: directory, sources, &sample)
    }
    let proven = Int64(sample.verified)
    _ = try store.update { state in
      state.samplesProven += proven
      return proven > 0 && state.head != nil
    }
    return sample
  }

  /// The path from the manifest on disk to the logged root.
  private func proveRelease(
    _ version: CompletedVersion, _ log: LogState, _ sources: [LogSource], _ store: LogStore,
    _ sample: inout Sample
  ) throws(FetchFailure) {
    let release = version.manifest.release
    guard let head = log.head, release < head.size else {
      return sample.missing.append(
        FetchFailure(
          .stale, "release \(release) is not in the log that is known here: pull once more"))
    }
    var failure: FetchFailure?
    for source in sources {
      do throws(FetchFailure) {
        guard
          try LogProof(of: log, head, by: source, leaves: [release]).holds(
            version.note, at: release)
        else {
          let alert = Alert(
            .notLogged, release: release, instance: SHA256.digest(version.note).description,
            time: Clocks.wall(),
            message: "the complete version \(version.manifest.version) says that it is release "
              + "\(release), and that entry of the release log is another one")
          _ = try store.update { $0.alerts.file(alert) }
          throw FetchFailure(.notLogged, alert.message, hint: alert.kind.advice)
        }
        sample.releases += 1
        return
      } catch {
        if error.category == .interrupted || error.category == .notLogged { throw error }
        failure = failure ?? error
      }
    }
    if let failure { sample.missing.append(failure) }
  }

  private func proveBlocks(
    _ blocks: [Int64], of version: CompletedVersion, in directory: ResourceDirectory,
    _ sources: [LogSource], _ sample: inout Sample
  ) throws(FetchFailure) {
    let manifest = version.manifest
    let file = try doing("cannot read \(directory.filePath(version))") { () throws(SystemError) in
      try directory.directory.openDirectory(manifest.version).openFile(manifest.file, .read)
    }
    var tree = try AuthenticatedTree(
      count: manifest.layout.count, root: manifest.root, capacity: 16)
    var verifier = BlockVerifier(layout: manifest.layout)
    for block in blocks {
      var failure: FetchFailure?
      for source in sources {
        do throws(FetchFailure) {
          try tree.gather(block..<block + 1) { tile throws(FetchFailure) in
            let ask = LogSource.Ask(
              SitePaths.tile(manifest.version, tile), limit: tile.byteCount)
            return try SuspectTile(tile, try source.get([ask])[0].get().bytes)
          }
          failure = nil
          break
        } catch {
          if error.category == .interrupted { throw error }
          failure = failure ?? error
        }
      }
      if let failure {
        sample.missing.append(failure)
        continue
      }
      guard let leaves = tree.provenLeaves(block..<block + 1) else {
        preconditionFailure("FetchResKit: gathered leaves are proven")
      }
      let range = manifest.layout.bytes(of: block..<block + 1)
      let bytes = try doing("cannot read block \(block) of \(directory.filePath(version))") {
        () throws(SystemError) in
        try file.read(count: Int(range.upperBound - range.lowerBound), at: range.lowerBound)
      }
      sample.checked += 1
      guard Int64(bytes.count) == range.upperBound - range.lowerBound else {
        sample.wrong.append(
          FetchFailure(.sizeMismatch, "block \(block) on disk is short", block: block))
        continue
      }
      let result: Result<[FetchFailure], FetchFailure> = bytes.withUnsafeBytes { raw in
        do throws(FetchFailure) {
          return .success(
            try verifier.verify(raw, blocks: block..<block + 1, leaves: leaves) { _ in })
        } catch { return .failure(error) }
      }
      if let failure = try result.get().first {
        sample.wrong.append(failure)
      } else {
        sample.verified += 1
      }
    }
  }
}
