import System

/// Every durable effect of this program goes through these three protocols, so that a double can cut
/// the power at each of them. They are called per block and per file, never per byte.
///
/// Names are single components; no call follows a symbolic link below a directory that was opened.
package protocol FileSystem: Sendable {
  /// Opens a directory at a path as the user wrote it. - Throws: `ENOENT`, `ENOTDIR`, …
  func openDirectory(_ path: String) throws(SystemError) -> any Directory

  /// Opens a file at a path as the user wrote it, for reading.
  func openFile(_ path: String) throws(SystemError) -> any File
}

/// How a file is opened. Permissions are less the umask.
package enum FileAccess: Sendable {
  case read
  case readWrite
  /// Made if it is not there.
  case create(permissions: UInt32)
  /// `EEXIST` if anything is there.
  case createNew(permissions: UInt32)
}

package protocol Directory: AnyObject, Sendable {
  /// `ENOENT`, `ELOOP` for a symbolic link, `EISDIR` when a directory would be written.
  func openFile(_ name: String, _ access: FileAccess) throws(SystemError) -> any File
  /// `ENOENT`, `ENOTDIR`; `ELOOP` or `ENOTDIR` for a symbolic link.
  func openDirectory(_ name: String) throws(SystemError) -> any Directory
  /// `EEXIST` if anything is there.
  func makeDirectory(_ name: String, permissions: UInt32) throws(SystemError)
  func status(_ name: String) throws(SystemError) -> FileStatus
  /// Of the directory itself.
  func status() throws(SystemError) -> FileStatus
  /// The names in it, in no order.
  func entries() throws(SystemError) -> [String]
  /// Replaces a file or symbolic link, or an empty directory by a directory, in one step. A
  /// directory that is not empty is `ENOTEMPTY`, and `EEXIST` on xfs; between names of the same file
  /// nothing happens.
  func rename(
    _ name: String, to directory: any Directory, _ newName: String
  ) throws(SystemError)
  /// A second name for a file. `EEXIST` if anything is there.
  func link(_ name: String, to directory: any Directory, _ newName: String) throws(SystemError)
  func makeSymbolicLink(_ name: String, to target: String) throws(SystemError)
  func readSymbolicLink(_ name: String) throws(SystemError) -> String
  func remove(_ name: String) throws(SystemError)
  /// `ENOTEMPTY` unless it is empty.
  func removeDirectory(_ name: String) throws(SystemError)
  /// Makes the entries durable: what was created, renamed and removed in here.
  func sync() throws(SystemError)
  /// What an ordinary user may still write here, in bytes.
  func freeBytes() throws(SystemError) -> Int64
}

package protocol File: AnyObject, Sendable {
  func status() throws(SystemError) -> FileStatus
  /// Reads until the buffer is full or the file ends; the number of bytes read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
  /// Writes all of it; past the end, the file grows and what lies between reads as zeros.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError)
  func truncate(to size: Int64) throws(SystemError)
  /// Reserves space without changing the size. `EOPNOTSUPP` where the file system cannot.
  func allocate(_ range: Range<Int64>) throws(SystemError)
  /// Turns the range into a hole. `EOPNOTSUPP` where the file system cannot.
  func punchHole(_ range: Range<Int64>) throws(SystemError)
  /// Takes the content of `source` copy-on-write, into an empty file: one that is longer keeps its
  /// tail. `EOPNOTSUPP`, `EXDEV` or `EINVAL` where it cannot be shared.
  func clone(from source: any File) throws(SystemError)
  /// Copies up to `count` bytes at `offset` to the same offset here; the number copied, 0 only at
  /// the end of `source`. `EXDEV` between file systems that cannot.
  func copy(from source: any File, at offset: Int64, count: Int64) throws(SystemError) -> Int64
  /// The first run of data at or behind `offset`; nil if only a hole follows.
  func nextData(from offset: Int64) throws(SystemError) -> Range<Int64>?
  /// Makes content, size and attributes durable.
  func sync() throws(SystemError)
  /// Makes the content durable.
  func syncData() throws(SystemError)
  /// Takes the lock of the file for as long as it is open; false if another one holds it.
  func tryLock() throws(SystemError) -> Bool
  /// Sets access and modification time, in seconds since 1970.
  func setModified(seconds: Int64) throws(SystemError)
  func setPermissions(_ permissions: UInt32) throws(SystemError)
}

extension FileSystem {
  /// A directory that was there before us may stand in one that we may not open.
  private func syncIfPossible(_ path: String) { try? openDirectory(path).sync() }

  /// Creates the directory at a path as the user wrote it, and those above it, all of them durable;
  /// one that exists is fine. `ENOTDIR` if anything else is there.
  package func makeDirectories(_ path: String, permissions: UInt32) throws(SystemError) {
    do throws(SystemError) {
      _ = try openDirectory(path)
      // Whoever made it may have been killed before it was durable; all above it was so first.
      syncIfPossible(Path.parent(path))
      return
    } catch {
      guard error.code == SystemError.notFound else { throw error }
    }
    let parentPath = Path.parent(path)
    guard parentPath != path else { throw SystemError(SystemError.notFound, "open", path: path) }
    try makeDirectories(parentPath, permissions: permissions)
    let name = Path.name(path)
    // These are there once what they are seen from is.
    if name == "." || name == ".." { return }
    let parent = try openDirectory(parentPath)
    do throws(SystemError) {
      try parent.makeDirectory(name, permissions: permissions)
      try parent.sync()
    } catch {
      // Another process may have made it in between.
      guard error.code == SystemError.exists else { throw error }
      let kind = try parent.status(name).kind
      guard kind == .directory else {
        throw SystemError(SystemError.notDirectory, "mkdirat", path: path)
      }
    }
  }
}
