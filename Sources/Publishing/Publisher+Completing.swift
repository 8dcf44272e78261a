import Failure
import Manifest
import Storage
import System

/// What an interrupted publish left is completed before anything else is done to a site, whatever that
/// is and with whatever arguments.
extension Publisher {
  /// Completes the transaction that was recorded, byte for byte.
  ///
  /// - Parameter keyFiles: where the records of keys go whose directory is gone.
  /// - Returns: what it was for; nil if there was none. If it has a held checkpoint, it stopped there.
  private func completePending(
    _ site: SiteDirectory, _ lock: SiteLock, _ keyFiles: [String]
  ) throws(FetchFailure) -> PublishResult? {
    guard
      let pending = try SiteTransaction.pending(lock)?
        .relocated(to: keyFiles, fileSystem, passwords)
    else { return nil }
    let keys = try pending.lockKeys(fileSystem)
    defer { withExtendedLifetime(keys) {} }
    if pending.heldCheckpoint == nil {
      report("a publish that was interrupted is completed first")
    }
    let isWhole = try pending.complete(site, lock, fileSystem, wasInterrupted: true)
    guard let manifest = pending.stagedManifest else {
      preconditionFailure("Publishing: a transaction without a manifest was completed")
    }
    return PublishResult(
      manifest: manifest, wasThere: true, heldCheckpoint: isWhole ? nil : pending.heldCheckpoint)
  }

  /// The same where nothing can follow a checkpoint that is held.
  ///
  /// - Returns: whether there was one.
  func finishPending(
    _ site: SiteDirectory, _ lock: SiteLock, keyFiles: [String]
  ) throws(FetchFailure) -> Bool {
    let completed = try completePending(site, lock, keyFiles)
    guard completed?.heldCheckpoint == nil else { throw SiteTransaction.held(site.path) }
    return completed != nil
  }

  /// The same for a site that may not be there.
  ///
  /// - Parameter holds: whether a checkpoint that is held is a result, and no refusal.
  func completePending(
    site path: String, keyFiles: [String], holds: Bool
  ) throws(FetchFailure) -> PublishResult? {
    guard (try? fileSystem.openDirectory(path)) != nil else { return nil }
    let site = try SiteDirectory(path, fileSystem, makes: false)
    guard try SiteTransaction.isRecorded(site) else { return nil }
    let completed = try completePending(site, try site.lock(), keyFiles)
    guard holds || completed?.heldCheckpoint == nil else { throw SiteTransaction.held(path) }
    return completed
  }
}
