import Failure
import Storage
import System

extension ResourceDirectory {
  /// Removes unfinished work and, if asked to, complete versions other than the available one.
  ///
  /// - Parameters:
  ///   - keepsNewest: whether work stays that is on a version newer than all that is complete: a pull
  ///     goes on with it.
  ///   - isDry: whether nothing is to be removed.
  ///   - report: gets the path of whatever goes.
  /// - Returns: about how many bytes go.
  @discardableResult
  package func clean(
    _ lock: DirectoryLock, oldVersions: Bool, keepsNewest: Bool = false, isDry: Bool = false,
    report: (String) -> Void
  ) throws(FetchFailure) -> Int64 {
    let unfinished = unfinishedWork()
    let kept = keepsNewest ? newestName(of: unfinished) : nil
    var freed: Int64 = 0
    for name in partialNames() where name != kept {
      freed += unfinished.first { PartialResource.name(of: $0.manifest) == name }?.bytesOnDisk ?? 0
      report(Path.join(path, ".fetchres/partial/\(name)"))
      if !isDry { try removeUnfinished(name, lock) }
    }
    guard oldVersions, let kept = available else { return freed }
    for version in completedVersions() where version.manifest.version != kept.manifest.version {
      report(Path.join(path, version.manifest.version))
      freed += version.manifest.layout.size
      if !isDry { try remove(version) }
    }
    return freed
  }

  /// The name of the work on a version that is newer than all that is complete; nil if there is none.
  private func newestName(of unfinished: [UnfinishedWork]) -> String? {
    let complete = completedVersions().map(\.manifest.release).max() ?? -1
    let newest = unfinished.map(\.manifest).max { $0.release < $1.release }
    return newest.flatMap { $0.release > complete ? PartialResource.name(of: $0) : nil }
  }
}
