import Failure
import Manifest
import SignedNote
import Storage
import System

/// The directory of one resource as a user sees it: versions, `current`, and `.fetchres` with what is
/// being worked on.
package final class ResourceDirectory: Sendable {
  /// As the user wrote it.
  package let path: String
  package let directory: any Directory
  private let fileSystem: any FileSystem

  static let privateName = ".fetchres"
  static let originName = "origin"
  static let lockName = "lock"
  static let partialName = "partial"
  static let removedName = "removed"
  static let currentName = "current"

  /// Opens a directory that exists; nil if there is nothing at `path`.
  package init?(_ path: String, _ fileSystem: any FileSystem) throws(FetchFailure) {
    self.path = path
    self.fileSystem = fileSystem
    do throws(SystemError) {
      directory = try fileSystem.openDirectory(path)
    } catch {
      if error.code == SystemError.notFound { return nil }
      throw error.failure("cannot open the directory \(path)")
    }
  }

  /// Opens the directory at `path`, making it where it is not there.
  package static func make(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(FetchFailure) -> ResourceDirectory {
    do throws(SystemError) {
      try fileSystem.makeDirectories(path, permissions: 0o777)
    } catch {
      throw error.failure("cannot make the directory \(path)")
    }
    guard let made = try ResourceDirectory(path, fileSystem) else {
      throw FetchFailure(.ioError, "the directory \(path) vanished while it was made")
    }
    return made
  }

  /// Whether a pull ever worked here.
  package var isResource: Bool {
    (try? directory.status(Self.privateName))?.kind == .directory
  }

  /// The origin that this directory belongs to; nil if it belongs to none yet.
  ///
  /// - Throws: `io-error` if the record is there and unreadable.
  package func origin() throws(FetchFailure) -> Origin? {
    do throws(SystemError) {
      guard try directory.statusIfPresent(Self.privateName) != nil else { return nil }
      let own = try directory.openDirectory(Self.privateName)
      guard try own.statusIfPresent(Self.originName) != nil else { return nil }
      let bytes = try own.readFile(Self.originName, limit: 256)
      guard bytes.last == UInt8(ascii: "\n"),
        let origin = Origin(String(decoding: bytes.dropLast(), as: UTF8.self))
      else {
        throw SystemError(SystemError.invalid, "read", path: Self.originName)
      }
      return origin
    } catch {
      throw error.failure("cannot read \(Path.join(path, ".fetchres/origin"))")
    }
  }

  /// Takes the lock of the directory, for as long as the result lives.
  ///
  /// - Throws: `locked`, naming who holds it.
  package func lock() throws(FetchFailure) -> DirectoryLock {
    do throws(SystemError) {
      let own = try directory.openOrMakeDirectory(Self.privateName, permissions: 0o700)
      let file = try own.openFile(Self.lockName, .create(permissions: 0o600))
      guard try file.tryLock() else {
        let holder = String(decoding: try file.read(count: 200, at: 0), as: UTF8.self)
          .prefix { $0 != "\n" }
        throw SystemError(SystemError.exists, String(holder))
      }
      try file.truncate(to: 0)
      try file.writeAll(
        Array("process \(ThisProcess.identifier) on \(ThisProcess.hostName)\n".utf8))
      return DirectoryLock(file: file, own: own)
    } catch {
      if error.code == SystemError.exists {
        let holder = error.call.isEmpty ? "another process" : error.call
        throw FetchFailure(
          .locked, "another fetchres works on \(path) (\(holder))",
          hint: "wait for it to end, or choose another directory with -d")
      }
      throw error.failure("cannot lock \(path)")
    }
  }

  /// - Throws: `usage` if the directory is that of another origin.
  package func check(_ origin: Origin) throws(FetchFailure) {
    guard let other = try self.origin(), other != origin else { return }
    throw FetchFailure(
      .usage, "the directory \(path) belongs to \(other), not to \(origin)",
      hint: "choose another directory with -d")
  }

  /// Records the origin of a directory that has none.
  ///
  /// - Throws: `usage` if it has another one by now, `io-error`.
  package func claim(_ origin: Origin, _ lock: DirectoryLock) throws(FetchFailure) {
    try check(origin)
    guard try self.origin() == nil else { return }
    do throws(SystemError) {
      try lock.own.replaceFile(
        Self.originName, Array("\(origin)\n".utf8), permissions: 0o600)
      try directory.sync()
    } catch {
      throw error.failure("cannot write in \(path)")
    }
  }

  // MARK: Versions

  /// The versions whose marker is valid, highest release first.
  package func completedVersions() -> [CompletedVersion] {
    ((try? directory.entries()) ?? []).compactMap { CompletedVersion($0, in: directory) }
      .sorted { $0.manifest.release > $1.manifest.release }
  }

  /// Versions that were finished, and whose marker is valid no more: somebody changed what it speaks of.
  package func damagedVersions() -> [String] {
    ((try? directory.entries()) ?? []).filter { name in
      guard Manifest.isVersion(name), (try? directory.status(name))?.kind == .directory,
        CompletedVersion(name, in: directory) == nil,
        let version = try? directory.openDirectory(name)
      else { return false }
      return (try? version.statusIfPresent(CompletedVersion.markerName)) != nil
    }.sorted()
  }

  /// Makes the names of the versions durable. Each was moved here out of a directory of unfinished
  /// work, and a rename is durable once both sides are.
  package func sync() throws(FetchFailure) {
    try doing("cannot make \(path) durable") { () throws(SystemError) in
      if let partial = try openPartial() {
        for name in try partial.entries() {
          guard let work = try? partial.openDirectory(name) else { continue }
          try work.sync()
        }
      }
      try directory.sync()
    }
  }

  /// The version that `current` names; nil if it names none that is complete.
  package var current: CompletedVersion? {
    let status = try? directory.statusIfPresent(Self.currentName)
    let name: String? =
      switch status?.kind {
      case .symbolicLink: try? directory.readSymbolicLink(Self.currentName)
      case .regular:
        (try? directory.readFile(Self.currentName, limit: 200)).map {
          String(decoding: $0.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
      case .directory, .other, nil: nil
      }
    return name.flatMap { CompletedVersion($0, in: directory) }
  }

  /// What `path` answers: the version that `current` names, else the valid one of the highest release.
  package var available: CompletedVersion? { current ?? completedVersions().first }

  /// Makes `current` name `version`, by the rename of a temporary link; where the file system has no
  /// symbolic links, by a text file.
  package func setCurrent(_ version: String) throws(FetchFailure) {
    let temporary = ".current.new"
    do throws(SystemError) {
      if (try? directory.readSymbolicLink(Self.currentName)) == version { return }
      try directory.removeIfPresent(temporary)
      do throws(SystemError) {
        try directory.makeSymbolicLink(temporary, to: version)
      } catch {
        guard error.category == .permission || error.isNotSupported else {
          throw error
        }
        return try directory.replaceFile(Self.currentName, Array("\(version)\n".utf8))
      }
      try directory.rename(temporary, to: directory, Self.currentName)
      try directory.sync()
    } catch {
      throw error.failure("cannot make '\(Self.currentName)' name version \(version)")
    }
  }

  package func filePath(_ version: CompletedVersion) -> String {
    Path.join(path, "\(version.manifest.version)/\(version.manifest.file)")
  }

  // MARK: Unfinished work

  /// A release that was begun: its snapshot, not verified yet.
  package struct Unfinished: Sendable {
    package let name: String
    package let snapshot: [UInt8]
  }

  /// What lies under `partial/`, without judging it.
  package func unfinished() -> [Unfinished] {
    guard let partial = try? openPartial() else { return [] }
    return ((try? partial.entries()) ?? []).sorted().compactMap { name in
      guard let directory = try? partial.openDirectory(name),
        let note = try? directory.readFile(
          PartialResource.snapshotName, limit: Manifest.maximumByteCount)
      else { return nil }
      return Unfinished(name: name, snapshot: note)
    }
  }

  /// Unfinished work, and about how much of it is on disk: what the file system has allocated data
  /// for, not hashed.
  package struct UnfinishedWork: Sendable {
    package let manifest: Manifest
    package let bytesOnDisk: Int64
    /// Seconds since 1970.
    package let lastWrite: Int64
    /// Of what is on disk, as if it were verified: that shows only when it is hashed.
    package let map: BlockMap
  }

  package func unfinishedWork() -> [UnfinishedWork] {
    unfinished().compactMap { work in
      guard let manifest = try? Manifest(selfSigned: work.snapshot),
        let blocks = try? openPartial()?.openDirectory(work.name)
          .openFile(PartialResource.blocksName, .read)
      else { return nil }
      let layout = manifest.layout
      var (bytes, offset): (Int64, Int64) = (0, 0)
      var present = BlockSet(universe: layout.count)
      while let data = try? blocks.nextData(from: offset) {
        bytes += data.upperBound - data.lowerBound
        offset = data.upperBound
        let first = (data.lowerBound + layout.blockSize - 1) / layout.blockSize
        let end = data.upperBound >= layout.size ? layout.count : data.upperBound / layout.blockSize
        if first < end { present.insert(first..<end) }
      }
      return UnfinishedWork(
        manifest: manifest, bytesOnDisk: min(bytes, layout.size),
        lastWrite: (try? blocks.status())?.modified.seconds ?? 0, map: BlockMap(present))
    }
  }

  /// What lies here and may hold blocks of `manifest`: the newest complete version, and unfinished
  /// work on others.
  package func reuseFiles(for manifest: Manifest) -> [ReuseFile] {
    var files: [ReuseFile] = []
    if let complete = available,
      let file = try? directory.openDirectory(complete.manifest.version)
        .openFile(complete.manifest.file, .read)
    {
      files.append(ReuseFile(file, size: complete.manifest.layout.size))
    }
    for work in unfinished() where work.name != PartialResource.name(of: manifest) {
      guard
        let file = try? openPartial()?.openDirectory(work.name)
          .openFile(PartialResource.blocksName, .read),
        let status = try? file.status(), status.kind == .regular
      else { continue }
      files.append(ReuseFile(file, size: status.size))
    }
    return files
  }

  /// All names under `partial/`, also those without a readable snapshot.
  package func partialNames() -> [String] {
    ((try? openPartial())?.flatMap { try? $0.entries() } ?? []).sorted()
  }

  private func openPartial() throws(SystemError) -> (any Directory)? {
    guard try directory.statusIfPresent(Self.privateName) != nil else { return nil }
    let own = try directory.openDirectory(Self.privateName)
    guard try own.statusIfPresent(Self.partialName) != nil else { return nil }
    return try own.openDirectory(Self.partialName)
  }

  package func openUnfinished(
    _ manifest: Manifest, note: [UInt8], _ lock: DirectoryLock
  ) throws(FetchFailure) -> PartialResource {
    do throws(SystemError) {
      let partial = try lock.own.openOrMakeDirectory(Self.partialName, permissions: 0o700)
      try lock.own.sync()
      return try PartialResource(manifest, note: note, below: partial)
    } catch {
      throw error.failure("cannot work in \(Path.join(path, ".fetchres/partial"))")
    }
  }

  /// Takes `DIR/<version>` without a valid marker back: its file becomes the blocks of the unfinished
  /// work and is hashed again. Nothing is deleted unless there is nothing of worth in it.
  package func takeBack(_ manifest: Manifest, _ lock: DirectoryLock) throws(FetchFailure) {
    do throws(SystemError) {
      guard let status = try directory.statusIfPresent(manifest.version) else { return }
      guard status.kind == .directory else {
        throw SystemError(SystemError.notDirectory, "open", path: manifest.version)
      }
      let partial = try lock.own.openOrMakeDirectory(Self.partialName, permissions: 0o700)
      let work = try partial.openOrMakeDirectory(
        PartialResource.name(of: manifest), permissions: 0o700)
      let version = try directory.openDirectory(manifest.version)
      if try version.statusIfPresent(manifest.file)?.kind == .regular,
        try work.statusIfPresent(PartialResource.blocksName) == nil
      {
        // Where it goes to has to last before it can be found there alone.
        try partial.sync()
        try lock.own.sync()
        try version.rename(manifest.file, to: work, PartialResource.blocksName)
        try work.sync()
        try version.sync()
      }
      // A run that was stopped in here may have moved the file and no more.
      if try version.statusIfPresent(manifest.file) == nil {
        for name in [CompletedVersion.markerName, CompletedVersion.manifestName] {
          try version.removeIfPresent(name)
        }
      }
      // What is not ours stays: a directory that is not empty then says so.
      try directory.removeDirectory(manifest.version)
      try directory.sync()
    } catch {
      throw error.failure(
        "cannot take back the incomplete \(Path.join(path, manifest.version)); move it away and run again"
      )
    }
  }

  package func removeUnfinished(_ name: String, _ lock: DirectoryLock) throws(FetchFailure) {
    do throws(SystemError) {
      try lock.own.openDirectory(Self.partialName).removeTree(name)
    } catch {
      throw error.failure("cannot remove \(Path.join(path, ".fetchres/partial/\(name)"))")
    }
  }

  /// Removes a complete version. It goes out of sight in one durable step, so that it is never half
  /// there; what a stop leaves of it then, the next removal or `clean` removes.
  package func remove(_ version: CompletedVersion, _ lock: DirectoryLock) throws(FetchFailure) {
    let name = version.manifest.version
    do throws(SystemError) {
      try lock.own.removeTree(Self.removedName)
      try lock.own.makeDirectory(Self.removedName, permissions: 0o700)
      try lock.own.sync()
      let removed = try lock.own.openDirectory(Self.removedName)
      try directory.rename(name, to: removed, name)
      try removed.sync()
      try directory.sync()
      try lock.own.removeTree(Self.removedName)
    } catch {
      throw error.failure("cannot remove \(Path.join(path, name))")
    }
  }

  /// Removes what a stop in the middle of a removal has left.
  ///
  /// - Returns: its path, if there is anything.
  func removeRest(_ lock: DirectoryLock, isDry: Bool) throws(FetchFailure) -> String? {
    let path = Path.join(self.path, "\(Self.privateName)/\(Self.removedName)")
    return try doing("cannot remove \(path)") { () throws(SystemError) in
      guard try lock.own.statusIfPresent(Self.removedName) != nil else { return nil }
      if !isDry { try lock.own.removeTree(Self.removedName) }
      return path
    }
  }

  // MARK: Space

  /// Room that stays free whatever is written.
  static let reserve: Int64 = 16 << 20

  /// Refuses to begin what cannot end (`no-space`, with both figures).
  package func checkSpace(_ bytes: Int64) throws(FetchFailure) {
    guard let free = try? directory.freeBytes() else { return }
    let needed = bytes + Self.reserve
    guard free < needed else { return }
    throw FetchFailure(
      .noSpace, "\(path) has \(free) bytes free and \(needed) are needed",
      hint: "free some space, then run again: verified work is kept")
  }
}

/// The lock on a resource directory, held until the last reference goes.
package final class DirectoryLock: Sendable {
  private let file: any File
  let own: any Directory

  init(file: any File, own: any Directory) { (self.file, self.own) = (file, own) }
}
