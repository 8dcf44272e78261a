import Failure
import Storage
import System

extension ResourceDirectory {
  /// Removes unfinished work and, if asked to, complete versions other than the available one.
  ///
  /// - Parameters:
  ///   - isDry: whether nothing is to be removed.
  ///   - report: gets the path of whatever goes.
  package func clean(
    _ lock: DirectoryLock, oldVersions: Bool, isDry: Bool = false, report: (String) -> Void
  ) throws(FetchFailure) {
    for name in partialNames() {
      report(Path.join(path, ".fetchres/partial/\(name)"))
      if !isDry { try removeUnfinished(name, lock) }
    }
    guard oldVersions, let kept = available else { return }
    for version in completedVersions() where version.manifest.version != kept.manifest.version {
      report(Path.join(path, version.manifest.version))
      if !isDry { try remove(version) }
    }
  }
}
