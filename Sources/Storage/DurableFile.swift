import System

/// Small files: read within a bound, replaced in one durable step.
extension Directory {
  /// The whole content of a regular file.
  ///
  /// - Throws: `EFBIG` if it has more than `limit` bytes, `EINVAL` if it is no regular file.
  package func readFile(_ name: String, limit: Int) throws(SystemError) -> [UInt8] {
    try openFile(name, .read).readAll(name, limit: limit)
  }

  /// Puts `bytes` under `name` so that after a crash either the old or the new content is there:
  /// open a new temporary file, write, fsync, rename, fsync the directory. A failure before the
  /// rename removes the temporary file, so that a full disk does not stay full by it.
  package func replaceFile(
    _ name: String, _ bytes: [UInt8], permissions: UInt32 = 0o666, modified: Int64? = nil
  ) throws(SystemError) {
    let temporary = ".\(name).new"
    try removeIfPresent(temporary)
    let file = try openFile(temporary, .createNew(permissions: permissions))
    do {
      try file.writeAll(bytes)
      if let modified { try file.date(seconds: modified) }
      try file.sync()
      try rename(temporary, to: self, name)
    } catch {
      // The first error is the one to report; what is left here, the next replacement removes.
      _ = try? removeIfPresent(temporary)
      throw error
    }
    try sync()
  }

  /// Whether something was removed.
  @discardableResult
  package func removeIfPresent(_ name: String) throws(SystemError) -> Bool {
    do {
      try remove(name)
      return true
    } catch {
      if error.code == SystemError.notFound { return false }
      throw error
    }
  }

  package func statusIfPresent(_ name: String) throws(SystemError) -> FileStatus? {
    do { return try status(name) } catch {
      if error.code == SystemError.notFound { return nil }
      throw error
    }
  }

  /// Opens a directory, making it first if it is not there. The entry is durable after `sync()`.
  package func openOrMakeDirectory(
    _ name: String, permissions: UInt32
  ) throws(SystemError) -> any Directory {
    do { try makeDirectory(name, permissions: permissions) } catch {
      if error.code != SystemError.exists { throw error }
    }
    return try openDirectory(name)
  }

  /// Removes whatever is under `name`, with all that is in it; nothing there is fine.
  package func removeTree(_ name: String) throws(SystemError) {
    guard let status = try statusIfPresent(name) else { return }
    guard status.kind == .directory else { return try remove(name) }
    let directory = try openDirectory(name)
    for entry in try directory.entries() { try directory.removeTree(entry) }
    try removeDirectory(name)
  }
}

extension File {
  /// The whole content, which has to be that of a regular file of at most `limit` bytes.
  package func readAll(_ name: String, limit: Int) throws(SystemError) -> [UInt8] {
    let status = try status()
    guard status.kind == .regular else {
      throw SystemError(SystemError.invalid, "read", path: name)
    }
    // Memory for what is there, not for what is allowed; one byte more shows that it grew.
    let size = Int(min(max(0, status.size), Int64(limit)))
    var bytes = try read(count: size + 1, at: 0)
    if bytes.count > size, size < limit { bytes = try read(count: limit + 1, at: 0) }
    guard bytes.count <= limit else { throw .beyondLimit(name) }
    return bytes
  }

  /// Gives it its time, where that can be done: only the owner may, and a share or an image that is
  /// mounted for everybody says that somebody else is.
  package func date(seconds: Int64) throws(SystemError) {
    do throws(SystemError) { try setModified(seconds: seconds) } catch {
      guard error.category == .permission || error.isNotSupported else { throw error }
    }
  }

  /// Up to `count` bytes at `offset`, fewer at the end of the file.
  package func read(count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result: Result<Int, SystemError> = bytes.withUnsafeMutableBytes { buffer in
      do throws(SystemError) { return .success(try read(into: buffer, at: offset)) } catch {
        return .failure(error)
      }
    }
    bytes.removeLast(count - (try result.get()))
    return bytes
  }

  package func writeAll(_ bytes: [UInt8], at offset: Int64 = 0) throws(SystemError) {
    let result: Result<Void, SystemError> = bytes.withUnsafeBytes { buffer in
      do throws(SystemError) {
        try write(buffer, at: offset)
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }
}
