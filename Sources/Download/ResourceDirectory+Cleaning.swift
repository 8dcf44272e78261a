import Failure
import Manifest
import Storage
import System

extension ResourceDirectory {
  /// Removes unfinished work that no pull goes on with, or all of it, and complete versions older than
  /// the available one if asked to.
  ///
  /// - Parameters:
  ///   - isDry: whether nothing is to be removed.
  ///   - report: gets the path of whatever goes.
  /// - Returns: about how many bytes that frees.
  @discardableResult
  package func clean(
    _ lock: DirectoryLock, all: Bool = true, oldVersions: Bool, isDry: Bool = false,
    report: (String) -> Void
  ) throws(FetchFailure) -> Int64 {
    let unfinished = unfinishedWork()
    let kept = all ? nil : newest(unfinished)
    var freed: Int64 = 0
    for name in partialNames() where name != kept {
      report(Path.join(path, ".fetchres/partial/\(name)"))
      freed += unfinished.first { PartialResource.name(of: $0.manifest) == name }?.bytesOnDisk ?? 0
      if !isDry { try removeUnfinished(name, lock) }
    }
    if let rest = try removeRest(lock, isDry: isDry) { report(rest) }
    guard oldVersions, let available else { return freed }
    // Whoever stopped before `current` named a newer version did not mean that it is old.
    for version in completedVersions() where version.manifest.release < available.manifest.release {
      report(Path.join(path, version.manifest.version))
      freed += version.manifest.layout.size
      if !isDry { try remove(version, lock) }
    }
    return freed
  }

  /// The name of the work on a version that is newer than all that is complete; nil if there is none.
  private func newest(_ unfinished: [UnfinishedWork]) -> String? {
    let complete = completedVersions().map(\.manifest.release).max() ?? -1
    let newest = unfinished.map(\.manifest).max { $0.release < $1.release }
    return newest.flatMap { $0.release > complete ? PartialResource.name(of: $0) : nil }
  }
}
