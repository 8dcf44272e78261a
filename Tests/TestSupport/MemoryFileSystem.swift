import Glibc
import Storage
import System

/// A file system in memory that keeps apart what is on its disk and what only the running system
/// sees, so that a test can cut the power anywhere and look at what ext4 or xfs might have left.
///
/// The promises are the least that POSIX gives, and no more:
/// - content and size of a file are durable after a sync of the file, its attributes after `sync`;
/// - a name that was made, changed or removed is durable after a sync of its directory, and a
///   rename after a sync of both directories. Syncing a new file does not keep its name, and syncing
///   a new directory keeps the names in it but not its own;
/// - everything else survives a power cut or not, each effect for itself, in any combination that
///   leaves a consistent tree: effects on the same name keep their order, a rename never loses both
///   names, and neither does the directory that it went into;
/// - a file sync that fails has dropped the data: a later one that works does not bring them back
///   until they are written again.
///
/// Once the power is off, every call on the file system and on its handles fails with `EIO`.
/// The umask is 022, the working directory is the root, and there are no owners: no call is refused
/// for want of permission.
package final class MemoryFileSystem: FileSystem {
  /// A call that changes something or makes it durable.
  package struct Operation: Sendable, Equatable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
      case createFile, makeDirectory, makeSymbolicLink, rename, link, remove, removeDirectory
      case syncDirectory
      case write, truncate, allocate, punchHole, clone, copy, setModified, setPermissions
      case syncFile, syncData
    }

    /// Counts from 1.
    package var number: Int
    package var kind: Kind
    /// For a file, the path that it was opened by.
    package var path: String
    /// For a rename and a link.
    package var newPath: String?
    package var range: Range<Int64>?

    package var description: String {
      "\(number) \(kind) \(path)" + (newPath.map { " -> \($0)" } ?? "")
        + (range.map { " \($0)" } ?? "")
    }
  }

  /// Called before an operation and without any lock held. What it throws is what the call throws,
  /// and nothing has happened then; it may cut the power itself.
  package typealias Hook = @Sendable (Operation) throws(SystemError) -> Void

  /// Which unsynced effects a power cut leaves.
  package enum Survivors: Sendable, Hashable {
    case nothingUnsynced
    case everything
    /// All but the one at this index of `unsyncedEffects`, and what builds upon it.
    case everythingBut(Int)
    /// Each write for itself whole, lost, cut short, as zeros, or with pages missing; each other
    /// effect for itself kept or lost.
    case seeded(UInt64)
  }

  private struct State: Sendable {
    var disk: MemoryDisk
    var hook: Hook?
    var operationCount = 0
    var isPowered = true
  }

  private let state: Monitor<State>

  package init(freeBytes: Int64 = 1 << 40) {
    state = Monitor(State(disk: MemoryDisk(freeBytes: freeBytes)))
  }

  private init(_ disk: MemoryDisk) { state = Monitor(State(disk: disk)) }

  package var onOperation: Hook? {
    get { state.look { $0.hook } }
    set { state.look { $0.hook = newValue } }
  }

  /// How many operations there were, failed ones included.
  package var operationCount: Int { state.look { $0.operationCount } }

  /// What may still be written; beyond it, writes fail with `ENOSPC` after what fits.
  package var freeBytes: Int64 {
    get { state.look { $0.disk.free } }
    set { state.look { $0.disk.free = newValue } }
  }

  /// Whether `clone` works or answers `EOPNOTSUPP`.
  package var supportsClone: Bool {
    get { state.look { $0.disk.supportsClone } }
    set { state.look { $0.disk.supportsClone = newValue } }
  }

  // MARK: Power

  /// Freezes the disk as it is: all calls fail from here on.
  package func cutPower() { state.look { $0.isPowered = false } }

  /// What would be at stake in a power cut now, oldest first.
  package var unsyncedEffects: [String] { state.look { $0.disk.unsynced.map(\.description) } }

  /// Cuts the power and starts again from what survived. May be called more than once, to look at
  /// several outcomes of the same cut.
  package func crash(survivors: Survivors) -> MemoryFileSystem {
    MemoryFileSystem(
      state.look { state in
        state.isPowered = false
        return state.disk.afterPowerCut(survivors)
      })
  }

  /// What the next process finds when this one was killed and the machine runs on: everything is
  /// there, nothing is more durable than before, and the locks are free.
  package func restart() -> MemoryFileSystem {
    MemoryFileSystem(
      state.look { state in
        state.isPowered = false
        return state.disk.afterKill()
      })
  }

  // MARK: Calls

  /// A call that changes nothing.
  func inspect<Result: Sendable>(
    _ call: String, _ body: (inout MemoryDisk) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    try state.look { state throws(SystemError) in
      guard state.isPowered else { throw SystemError(EIO, call) }
      return try body(&state.disk)
    }
  }

  /// A call that counts as an operation.
  func perform<Result: Sendable>(
    _ kind: Operation.Kind, _ path: String, to newPath: String? = nil,
    range: Range<Int64>? = nil, _ body: (inout MemoryDisk) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let (number, hook) = try state.look { state throws(SystemError) in
      guard state.isPowered else { throw SystemError(EIO, kind.rawValue, path: path) }
      state.operationCount += 1
      return (state.operationCount, state.hook)
    }
    try hook?(
      Operation(number: number, kind: kind, path: path, newPath: newPath, range: range))
    return try inspect(kind.rawValue, body)
  }

  /// For handles that go away: works without power too.
  func close(_ handle: MemoryDisk.Handle) { state.look { $0.disk.close(handle) } }

  // MARK: FileSystem

  package func openDirectory(_ path: String) throws(SystemError) -> any Directory {
    let node = try inspect("open") { disk throws(SystemError) in
      let node = try disk.resolve(path)
      guard disk.isDirectory(node) else { throw SystemError(ENOTDIR, "open", path: path) }
      return node
    }
    return MemoryDirectory(self, node, path)
  }

  package func openFile(_ path: String) throws(SystemError) -> any File {
    let handle = try inspect("open") { disk throws(SystemError) in
      disk.open(try disk.resolve(path))
    }
    return MemoryFile(self, handle, path, isWritable: false)
  }
}
