import Crypto
import Failure
import Manifest
import MerkleTree
import Storage
import System

/// Builds a release directory under the name `releases/.new-<version>`, which no server shows.
struct ReleaseBuilder {
  let site: SiteDirectory
  let version: String
  let file: String

  private static let temporaryPrefix = ".new-"

  static func temporaryName(_ version: String) -> String { temporaryPrefix + version }

  /// Where the manifest of a release that is being built goes.
  static func manifestPath(_ version: String) -> String {
    "\(SitePaths.releases)/\(temporaryName(version))/\(SitePaths.manifest)"
  }

  /// Removes what interrupted builds left.
  ///
  /// - Returns: whether there was anything.
  static func removeUnfinished(in site: SiteDirectory) throws(FetchFailure) -> Bool {
    try doing("cannot remove unfinished releases in \(site.path)") { () throws(SystemError) in
      guard let (releases, _) = try site.locate("\(SitePaths.releases)/x") else { return false }
      let names = try releases.entries().filter { $0.hasPrefix(temporaryPrefix) }
      for name in names { try releases.removeTree(name) }
      try releases.sync()
      return !names.isEmpty
    }
  }

  /// How the file gets into the site.
  enum Entry: Sendable {
    /// By reflink where the file system can, else copied.
    case copy
    /// A hard link that nobody may write to.
    case link(any Directory, String)
  }

  /// Puts file and tiles there, all of it durable.
  ///
  /// - Parameter opened: the status of the file when its size was taken for the layout.
  /// - Returns: the root of the tree.
  /// - Throws: `io-error` if the file was changed since, or its name is that of another one.
  func build(
    _ source: any File, opened: FileStatus, layout: BlockLayout, entry: Entry
  ) throws(FetchFailure) -> Digest {
    let what = "cannot build the release in \(site.path)"
    let releases: any Directory
    let directory: any Directory
    var copy: (any File)?
    var hashed = source
    do throws(SystemError) {
      guard let (found, _) = try site.locate("\(SitePaths.releases)/x", makes: true) else {
        preconditionFailure("Publishing: a directory was not made")
      }
      releases = found
      let name = Self.temporaryName(version)
      try releases.removeTree(name)
      directory = try releases.openOrMakeDirectory(name, permissions: 0o777)
      switch entry {
      case .link(let parent, let name):
        try parent.link(name, to: directory, file)
        hashed = try directory.openFile(file, .read)
        let linked = try hashed.status()
        // Another file that has the name by now is refused below, and left as it is.
        if linked.inode == opened.inode { try hashed.setPermissions(linked.permissions & ~0o222) }
      case .copy:
        let target = try directory.openFile(file, .createNew(permissions: 0o666))
        do throws(SystemError) {
          try target.clone(from: source)
          hashed = target
        } catch {
          try target.truncate(to: layout.size)
          copy = target
        }
      }
    } catch {
      if case .link = entry, error.code == SystemError.crossDevice {
        throw FetchFailure(
          .usage, "the file is on another file system than the site, so --link cannot share it",
          hint: "publish without --link")
      }
      throw error.failure(what)
    }

    let changed = FetchFailure(
      .ioError, "the input file changed while it was read",
      hint: "stop whatever writes to it, then publish again")
    let before = try status(of: hashed)
    let original = try status(of: source)
    var expected = opened
    if case .link = entry {
      // A link changes these itself.
      (expected.permissions, expected.changed) = (original.permissions, original.changed)
      guard before == original else { throw changed }
    }
    guard original == expected, before.size == layout.size else { throw changed }
    var tiles = TileWriter(directory: directory)
    var builder = TreeBuilder()
    try BlockHasher(layout: layout, source: hashed, copy: copy).run { leaf throws(FetchFailure) in
      try builder.append(leaf) { tile, bytes throws(FetchFailure) in try tiles.write(tile, bytes) }
    }
    let root = try builder.finish { tile, bytes throws(FetchFailure) in
      try tiles.write(tile, bytes)
    }
    guard try status(of: hashed) == before, try status(of: source) == original else {
      throw changed
    }
    do throws(SystemError) {
      try (copy ?? hashed).sync()
      try tiles.sync()
      try directory.sync()
      try releases.sync()
    } catch { throw error.failure(what) }
    return root
  }

  /// Moves what was built into the release that is there without its data: the file last, which says
  /// that the tiles are there.
  func putBack() throws(FetchFailure) {
    try doing("cannot put the data of \(version) back") { () throws(SystemError) in
      guard let (release, _) = try site.locate(SitePaths.releaseManifest(version)),
        let (built, _) = try site.locate(Self.manifestPath(version))
      else { throw SystemError(SystemError.notFound, "open", path: version) }
      try release.removeTree("tile")
      if try built.statusIfPresent("tile") != nil {
        try built.rename("tile", to: release, "tile")
        try built.sync()
        try release.sync()
      }
      try built.rename(file, to: release, file)
    }
    try settle()
  }

  /// Makes durable what was put back, by this run or by one that was killed.
  func settle() throws(FetchFailure) {
    try doing("cannot make the data of \(version) durable") { () throws(SystemError) in
      // A move is durable once both of its ends are.
      try site.locate(Self.manifestPath(version))?.0.sync()
      try site.locate(SitePaths.releaseManifest(version))?.0.sync()
    }
    discard()
  }

  /// Removes what was built and will not be published: it may be what fills the disk. What cannot be
  /// removed now, the next attempt replaces.
  func discard() {
    if let (releases, name) = try? site.locate(SitePaths.release(Self.temporaryName(version))) {
      try? releases.removeTree(name)
    }
  }

  private func status(of file: any File) throws(FetchFailure) -> FileStatus {
    do throws(SystemError) { return try file.status() } catch {
      throw error.failure("cannot look at the input file")
    }
  }
}

/// The tree over the blocks of a file on disk.
package enum TreeOfFile {
  /// Its root; nothing is written.
  ///
  /// - Parameter visit: is told each tile of the tree.
  package static func root(
    of file: any File, layout: BlockLayout,
    visit: (TileAddress) throws(FetchFailure) -> Void = { _ in }
  ) throws(FetchFailure) -> Digest {
    var builder = TreeBuilder()
    try BlockHasher(layout: layout, source: file).run { leaf throws(FetchFailure) in
      try builder.append(leaf) { tile, _ throws(FetchFailure) in try visit(tile) }
    }
    return try builder.finish { tile, _ throws(FetchFailure) in try visit(tile) }
  }
}

/// Writes hash tiles below a directory, making the directories that their paths need.
private struct TileWriter {
  let directory: any Directory
  /// By path from `directory`; insertion order does not matter, all are synced.
  private var directories: [String: any Directory] = [:]

  init(directory: any Directory) { self.directory = directory }

  mutating func write(_ tile: TileAddress, _ bytes: [UInt8]) throws(FetchFailure) {
    do throws(SystemError) {
      let components = tile.path.split(separator: "/").map(String.init)
      var parent = directory
      var path = ""
      for component in components.dropLast() {
        path += component + "/"
        if let known = directories[path] {
          parent = known
        } else {
          parent = try parent.openOrMakeDirectory(component, permissions: 0o777)
          directories[path] = parent
        }
      }
      let file = try parent.openFile(
        components[components.count - 1], .createNew(permissions: 0o666))
      try file.writeAll(bytes)
      try file.sync()
    } catch { throw error.failure("cannot write \(tile.path)") }
  }

  func sync() throws(SystemError) {
    for directory in directories.values { try directory.sync() }
  }
}
