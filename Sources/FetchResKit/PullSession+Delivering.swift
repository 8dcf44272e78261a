import Download
import Failure
import Storage
import System
import Transport

/// What becomes of a version that is whole.
extension PullSession {
  /// Hands the finished file out: as a path, as a copy, or as a stream.
  func deliver(
    _ complete: CompletedVersion, in directory: ResourceDirectory, _ work: Work, newer: String?
  ) throws(FetchFailure) -> PullResult {
    if let newer {
      report(
        .note(
          "version \(complete.manifest.version) is complete; version \(newer) is newer",
          hint: request.pinsVersion
            ? "its URL is the one without the version" : "run again to fetch it"))
    }
    var result = PullResult(complete, path: directory.filePath(complete))
    if let output = request.output {
      try OutputFile.write(complete, in: directory, to: output, fileSystem, interruption)
      if output != "-" { result.path = output }
    }
    (result.fetched, result.reused, result.newerVersion) = (work.fetched, work.reused, newer)
    return result
  }

  /// `--keep N`: the complete versions of the lowest releases go, never the one just finished and the
  /// one that is current, which is another where the URL pins a version.
  func prune(
    _ directory: ResourceDirectory, _ lock: DirectoryLock, keeping finished: CompletedVersion
  ) throws(FetchFailure) {
    guard let keep = request.keep else { return }
    var stays: Set = [finished.manifest.version]
    if let current = directory.current { stays.insert(current.manifest.version) }
    let others = directory.completedVersions().filter { !stays.contains($0.manifest.version) }
    for old in others.dropFirst(max(0, keep - stays.count)) { try directory.remove(old, lock) }
  }
}

extension PullRequest {
  fileprivate var pinsVersion: Bool { (try? SiteURL(url))?.pinnedVersion != nil }
}
