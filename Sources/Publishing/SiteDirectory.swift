import Failure
import Manifest
import MerkleTree
import ReleaseLog
import Storage
import System

/// A publisher's site on disk, by the paths of `SitePaths`.
final class SiteDirectory: Sendable {
  /// As the user wrote it.
  let path: String
  let root: any Directory

  /// The directories, by path, whose own names are known to be durable: those that a killed run made
  /// are there and may not be.
  private let durable = Monitor<Set<String>>([])

  /// Holds what is being published; never served.
  static let privateName = ".publish"
  static let lockName = "lock"
  /// More than any small file of a site has.
  static let fileLimit = 1 << 25

  init(_ path: String, _ fileSystem: any FileSystem, makes: Bool) throws(FetchFailure) {
    self.path = path
    do throws(SystemError) {
      if makes { try fileSystem.makeDirectories(path, permissions: 0o777) }
      root = try fileSystem.openDirectory(path)
    } catch {
      throw error.failure("cannot open the site \(path)")
    }
  }

  /// Takes the lock of the site, for as long as the result lives.
  ///
  /// - Throws: `locked`.
  func lock() throws(FetchFailure) -> SiteLock {
    let file: any File
    let own: any Directory
    do throws(SystemError) {
      own = try root.openOrMakeDirectory(Self.privateName, permissions: 0o700)
      try root.sync()
      file = try own.openFile(Self.lockName, .create(permissions: 0o600))
      guard try file.tryLock() else {
        throw SystemError(SystemError.exists, "flock")
      }
      // A record that a killed run removed must not come back later.
      try own.sync()
    } catch {
      if error.code == SystemError.exists, error.call == "flock" {
        throw FetchFailure(
          .locked, "another fetchres publishes to \(path)",
          hint: "wait for it to end, then run again")
      }
      throw error.failure("cannot lock the site \(path)")
    }
    try probe(own)
    return SiteLock(file: file, own: own)
  }

  /// Finds out, instead of guessing, whether this file system has what a publish stands on: files and
  /// directories that can be made durable, and a rename that replaces.
  private func probe(_ own: any Directory) throws(FetchFailure) {
    let name = "probe"
    do throws(SystemError) {
      for content in ["one\n", "two\n"] { try own.replaceFile(name, Array(content.utf8)) }
      guard try own.readFile(name, limit: 16) == Array("two\n".utf8) else {
        throw SystemError(SystemError.inputOutput, "rename")
      }
      try own.remove(name)
    } catch {
      guard error.category == .ioError else { throw error.failure("cannot write in \(path)") }
      throw FetchFailure(
        .ioError,
        "the file system of \(path) lacks what a publish stands on: \(error.reason) (\(error.call))",
        hint: "publish to a local file system, and upload from there")
    }
  }

  // MARK: Files by path

  /// Opens the directory of `path` (components between slashes, the last one a file) and names the
  /// file in it; nil if a directory on the way is missing and `makes` is false. Where it is true, all of
  /// them are durable.
  func locate(_ path: String, makes: Bool = false) throws(SystemError) -> (any Directory, String)? {
    var components = path.split(separator: "/").map(String.init)
    guard let name = components.popLast() else {
      throw SystemError(SystemError.invalid, "open", path: path)
    }
    var directory = root
    var reached = ""
    for component in components {
      reached += component + "/"
      if makes {
        if try directory.statusIfPresent(component) == nil {
          try directory.makeDirectory(component, permissions: 0o777)
          durable.look { _ = $0.remove(reached) }
        }
        if durable.look({ !$0.contains(reached) }) {
          try directory.sync()
          durable.look { _ = $0.insert(reached) }
        }
      } else if try directory.statusIfPresent(component) == nil {
        return nil
      }
      directory = try directory.openDirectory(component)
    }
    return (directory, name)
  }

  /// The content of a file of at most `limit` bytes; nil if it is not there.
  func read(_ path: String, limit: Int) throws(FetchFailure) -> [UInt8]? {
    do throws(SystemError) {
      guard let (directory, name) = try locate(path),
        try directory.statusIfPresent(name) != nil
      else { return nil }
      return try directory.readFile(name, limit: limit)
    } catch {
      let path = Path.join(self.path, path)
      guard !error.isBeyondLimit else {
        throw FetchFailure(.tooLarge, "\(path) has more bytes than it can have")
      }
      throw error.failure("cannot read \(path)")
    }
  }

  /// Makes a file that is there durable, and its name.
  func makeDurable(_ path: String) throws(FetchFailure) {
    try doing("cannot make \(Path.join(self.path, path)) durable") { () throws(SystemError) in
      guard let (directory, name) = try locate(path, makes: true) else { return }
      try directory.openFile(name, .read).sync()
      try directory.sync()
    }
  }

  /// The tile of the log or of a release, as it lies there; nil if it does not.
  func tile(_ tile: TileAddress, of version: String? = nil) throws(FetchFailure) -> SuspectTile? {
    let path = version.map { SitePaths.tile($0, tile) } ?? tile.path
    guard let bytes = try read(path, limit: tile.byteCount) else { return nil }
    return try SuspectTile(tile, bytes)
  }

  /// The tile as it lies there, which has to.
  func presentTile(
    _ tile: TileAddress, of version: String? = nil
  ) throws(FetchFailure) -> SuspectTile {
    guard let there = try self.tile(tile, of: version) else {
      let name = version.map { SitePaths.tile($0, tile) } ?? tile.path
      throw FetchFailure(
        .tileInvalid, "\(name) is missing in \(path)",
        hint: "rebuild the log with 'fetchres publish --recover URL --site \(path)'")
    }
    return there
  }

  /// Entry `index` of a release log of `size` entries, as it lies there.
  func logEntry(_ index: Int64, of size: Int64) throws(FetchFailure) -> [UInt8] {
    let bundle = index / Int64(Tile.width)
    let width = Int(min(Int64(Tile.width), size - bundle * Int64(Tile.width)))
    let path = TileAddress.entriesPath(index: bundle, width: width)
    guard let bytes = try read(path, limit: EntryBundle.maximumByteCount) else {
      throw FetchFailure(
        .tileInvalid, "\(path) is missing in \(self.path)",
        hint: "rebuild the log with 'fetchres publish --recover URL --site \(self.path)'")
    }
    return try EntryBundle(bytes, width: width).entries[Int(index % Int64(Tile.width))]
  }

  /// Refuses anything else under `path` (`tile-invalid`).
  func compare(_ path: String, _ bytes: [UInt8]) throws(FetchFailure) {
    guard let there = try read(path, limit: Self.fileLimit) else {
      throw FetchFailure(.tileInvalid, "\(path) is missing")
    }
    guard there == bytes else {
      throw FetchFailure(.tileInvalid, "\(path) is not what the leaves below it lead to")
    }
  }

  func has(_ path: String) throws(FetchFailure) -> Bool {
    do throws(SystemError) {
      guard let (directory, name) = try locate(path) else { return false }
      return try directory.statusIfPresent(name) != nil
    } catch {
      throw error.failure("cannot look at \(Path.join(self.path, path))")
    }
  }
}

/// The lock on a site, held until the last reference goes.
final class SiteLock: Sendable {
  private let file: any File
  let own: any Directory

  init(file: any File, own: any Directory) { (self.file, self.own) = (file, own) }
}
